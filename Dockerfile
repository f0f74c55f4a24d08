# The gateway as a small image: built with the development tools, run without them, by a user without rights.
# How it is run: docker-compose.yml, deploy/kubernetes. docs/docker.md says what was tried.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json client/package.json
COPY tools/package.json tools/build-web.js tools/
COPY web/package.json web/package.json
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src src
RUN node node_modules/typescript/bin/tsc -p .
COPY web web
RUN node tools/build-web.js

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json client/package.json
COPY tools/package.json tools/package.json
COPY web/package.json web/package.json
# No embedded PostgreSQL and no second Node in the image: the base image and DATABASE_URL stand in for them.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && rm -rf node_modules/node node_modules/node-bin-* node_modules/.bin

FROM node:24.21.0-bookworm-slim
# The signer is another user than its gateways. They share a group, for whom it makes its socket.
RUN groupadd --gid 10001 gateway \
  && useradd --uid 10001 --gid gateway --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin gateway \
  && useradd --uid 10002 --gid gateway --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin signer \
  && install -d -o gateway -g gateway -m 0700 /data \
  && install -d -o signer -g gateway -m 0700 /signer \
  && install -d -o signer -g gateway -m 2750 /run/gateway
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/web/dist web/dist
COPY package.json ./
USER 10001:10001
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8081/readyz').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/main.js"]
