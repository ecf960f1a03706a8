# The image has the command `querycloak` and nothing to build with; it runs as a user without rights and needs no network.
#
#   docker build --tag querycloak .
#   docker run --rm --network none --read-only --tmpfs /tmp --volume "$PWD/data:/data" querycloak \
#       anonymize log.tsv -o release.tsv --method sweep
#
# docs/install.md says more: who must own the folder, the studio, other extras.

FROM python:3.11-slim AS build
ARG EXTRAS=dataframes,dp,sign
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY man ./man
COPY src ./src
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# The file itself is installed, and not the name: an index may have another package of the same name.
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -m venv /opt/querycloak \
    && /opt/querycloak/bin/pip install --no-cache-dir --constraint constraints.txt "$(echo /wheels/querycloak-*.whl)[${EXTRAS}]" \
    && /opt/querycloak/bin/pip uninstall --yes pip setuptools

FROM python:3.11-slim
# /data has the logs and releases, /cache the compiled kernels and what was read of large directories.
RUN useradd --uid 10001 --create-home querycloak \
    && install --directory --owner querycloak --group querycloak --mode 0700 /data /cache
COPY --from=build /opt/querycloak /opt/querycloak
ENV PATH="/opt/querycloak/bin:$PATH" \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/cache/numba \
    QUERYCLOAK_CACHE=/cache/querycloak
USER 10001
WORKDIR /data
VOLUME ["/data", "/cache"]
ENTRYPOINT ["querycloak"]
CMD ["--help"]
