#!/usr/bin/env bash
# Go clients of OpenAPI Generator round a double in a query or header to the precision of a float, and keep it in a body.
#
# Versions: openapi-generator-cli 7.25.0, generator go, compiled by Go 1.26.
# Rule: OpenAPI 3.0.4, section 4.4: the format double is double precision. The arguments of the client are float64.
# Expected: 12345678.75 in all three places. Seen: the query and the header have 1.2345679e+07, which is 12345679, and the
# JSON body has 12345678.75: the code formats the float64 of a parameter with 32 bits.
set -eu
directory=$(mktemp -d)
trap 'chmod -R u+w "$directory"; rm -rf "$directory"' EXIT
cd "$directory"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
cat >api.yaml <<'YAML'
openapi: 3.0.3
info: { title: Fields, version: '1' }
paths:
  /fields:
    post:
      operationId: addField
      parameters:
        - { name: area, in: query, schema: { type: number, format: double } }
        - { name: X-Area, in: header, schema: { type: number, format: double } }
      requestBody:
        content:
          application/json:
            schema: { type: object, properties: { area: { type: number, format: double } } }
      responses: { '204': { description: Added } }
YAML
java -jar openapi-generator-cli-7.25.0.jar generate -i api.yaml -g go -o client \
  --additional-properties=isGoSubmodule=false,withGoMod=false,packageName=client >log
cat >go.mod <<'MOD'
module fields

go 1.26
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"fields/client"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("query: %s\nheader: %s\nbody: %s", r.URL.RawQuery, r.Header.Get("X-Area"), body)
		w.WriteHeader(204)
	}))
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: server.URL}}
	area := 12345678.75
	body := client.AddFieldRequest{Area: &area}
	call := client.NewAPIClient(configuration).DefaultAPI.AddField(context.Background())
	if _, err := call.Area(area).XArea(area).AddFieldRequest(body).Execute(); err != nil {
		panic(err)
	}
}
GO
rm -r client/test
go run . | tee output
diff output - <<'SEEN'
query: area=1.2345679e%2B07
header: 1.2345679e+07
body: {"area":12345678.75}
SEEN
