# The worker of docker-compose.yml, and the command line: docker compose exec worker holdfast doctor
FROM node:22.12.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json agent.schema.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.mjs && npm prune --omit=dev

FROM node:22.12.0-bookworm-slim
# What agents' commands need beside a shell; snapshots of workspaces are git's.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/apps/cli/main.js /usr/local/bin/holdfast \
  && mkdir --mode=700 /workspace /home/node/.holdfast \
  && chown node:node /workspace /home/node/.holdfast
ENV NODE_ENV=production
USER node
WORKDIR /workspace
# Server, database and keys as the worker would use them.
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s --retries=3 CMD ["holdfast", "doctor"]
ENTRYPOINT ["holdfast"]
CMD ["worker"]
