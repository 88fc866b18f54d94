#!/usr/bin/env bash
# A Go client of OpenAPI Generator sends only the last item of a list in a header, and no cookie parameter at all.
#
# Versions: openapi-generator-cli 7.25.0, generator go, compiled by Go 1.26.
# Rule: OpenAPI 3.0.4, section 4.7.12.3: a list in a header has the style simple, its items joined by commas; a cookie
# parameter has the style form.
# Expected: X-Tags: fern,moss,ivy and Cookie: lang=en. Seen: X-Tags: ivy, and no Cookie. The generated setters take the list
# and the cookie, a required cookie is checked to be there, and the call succeeds.
set -eu
directory=$(mktemp -d)
trap 'chmod -R u+w "$directory"; rm -rf "$directory"' EXIT
cd "$directory"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=.
cat >api.yaml <<'YAML'
openapi: 3.0.3
info: { title: Seeds, version: '1' }
paths:
  /seeds:
    get:
      operationId: listSeeds
      parameters:
        - { name: X-Tags, in: header, schema: { type: array, items: { type: string } } }
        - { name: lang, in: cookie, required: true, schema: { type: string } }
      responses: { '204': { description: Received } }
YAML
java -jar openapi-generator-cli-7.25.0.jar generate -i api.yaml -g go -o client \
  --additional-properties=isGoSubmodule=false,withGoMod=false,packageName=client >log
rm -r client/test
printf 'module seeds\n\ngo 1.26\n' >go.mod
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"seeds/client"
)

func main() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("X-Tags: %q\nCookie: %q\n", r.Header["X-Tags"], r.Header["Cookie"])
		w.WriteHeader(204)
	}))
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: server.URL}}
	call := client.NewAPIClient(configuration).DefaultAPI.ListSeeds(context.Background())
	_, err := call.XTags([]string{"fern", "moss", "ivy"}).Execute()
	fmt.Println("without lang:", err)
	_, err = call.XTags([]string{"fern", "moss", "ivy"}).Lang("en").Execute()
	fmt.Println("with lang:", err)
}
GO
go run . | tee output
diff output - <<'SEEN'
without lang: lang is required and must be specified
X-Tags: ["ivy"]
Cookie: []
with lang: <nil>
SEEN
