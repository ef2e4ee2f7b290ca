# The server, for AWS or any endpoint that speaks DynamoDB's protocol. `--target trial` also has the embedded store, to try it out.
# `make base-images` renews the digests, which name images for several platforms.
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS build
WORKDIR /build
# The installer works on this environment from outside, so it has none.
RUN python -m venv --without-pip /opt/smartlocker
COPY requirements.txt .
RUN pip --python /opt/smartlocker/bin/python install --no-cache-dir --require-hashes --requirement requirements.txt
COPY pyproject.toml README.md ./
COPY domain domain
COPY loaders loaders
COPY resolvers resolvers
COPY server server
RUN pip --python /opt/smartlocker/bin/python install --no-cache-dir --no-deps --no-build-isolation . \
    && pip --python /opt/smartlocker/bin/python uninstall --yes setuptools

FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS base
RUN pip uninstall --yes --root-user-action ignore pip && rm -r /usr/local/lib/python3.13/ensurepip
COPY --from=build /opt/smartlocker /opt/smartlocker
ENV PATH=/opt/smartlocker/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SMARTLOCKER_PORT=8000
USER 65532:65532
EXPOSE 8000
# A shell that speaks HTTP: an interpreter would take a hundred times as long to start.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/$SMARTLOCKER_PORT && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -t 2 _ status _ <&3 && [ $status = 200 ]"]
# It needs up to 20 seconds to stop: five until it is out of rotation, ten for running requests.
STOPSIGNAL SIGTERM
CMD ["smartlocker", "serve"]

FROM node:22-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5 AS store
WORKDIR /store
COPY loaders/table/package.json loaders/table/package-lock.json ./
RUN npm ci --ignore-scripts && install -d -o 65532 -g 65532 -m 700 /data

# In the development profile, so on loopback only: docker run --rm --network host smartlocker:trial
FROM base AS trial
COPY --from=store /store/node_modules/@dynoxide/linux-x64/dynoxide /opt/dynoxide
COPY --from=store /data /data
ENV SMARTLOCKER_STORE_BINARY=/opt/dynoxide \
    SMARTLOCKER_DATA_DIR=/data
VOLUME /data

FROM base AS server
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="SmartLocker" \
    org.opencontainers.image.description="GraphQL API server for physical lockers on one DynamoDB table" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION"
ENV SMARTLOCKER_PROFILE=production \
    SMARTLOCKER_HOST=0.0.0.0 \
    SMARTLOCKER_ENDPOINT_URL=aws
