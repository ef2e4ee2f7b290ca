# For AWS or any endpoint that speaks DynamoDB's protocol: no store inside.
FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/smartlocker
ENV PATH=/opt/smartlocker/bin:$PATH
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes --requirement requirements.txt
COPY pyproject.toml README.md ./
COPY domain domain
COPY loaders loaders
COPY resolvers resolvers
COPY server server
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --no-create-home smartlocker
COPY --from=build /opt/smartlocker /opt/smartlocker
ENV PATH=/opt/smartlocker/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SMARTLOCKER_PROFILE=production \
    SMARTLOCKER_HOST=0.0.0.0 \
    SMARTLOCKER_PORT=8000 \
    SMARTLOCKER_ENDPOINT_URL=aws
USER smartlocker
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"SMARTLOCKER_PORT\"]}/health', timeout=2)"]
CMD ["smartlocker", "serve"]
