#!/bin/sh
# The slow check before a release. It wears out the test rig, so every start leaves a line in unsafe-runs.log.
echo "started by ${HOLDFAST_CALL:-hand}" >> unsafe-runs.log
for step in 1 2 3 4 5 6; do
  echo "step $step of 6"
  sleep 0.5
done
exec npm test
