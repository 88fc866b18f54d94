#!/usr/bin/env bash
# A Go client of oapi-codegen sends a spaceDelimited list in a request line that Go's own server rejects: the delimiter is a
# raw space, although a space within an item is encoded.
#
# Versions: oapi-codegen 2.8.2 with its runtime 1.9.0, Go 1.26.
# Rules: RFC 9112, section 3.2 (no whitespace in a request target; a recipient should respond with 400) and OpenAPI 3.0.4,
# appendix E (the space of spaceDelimited is %20).
# Expected: GET /seeds?tags=fern%20moss+b. Seen: a raw space between fern and moss, no error from net/http, which sends a raw
# query as it is, and 400 from its server. A list of one item works, as does the style pipeDelimited with a raw pipe.
set -eu
directory=$(mktemp -d)
trap 'chmod -R u+w "$directory"; rm -rf "$directory"' EXIT
cd "$directory"
cat >api.yaml <<'YAML'
openapi: 3.0.3
info: { title: Seeds, version: '1' }
paths:
  /seeds:
    get:
      operationId: listSeeds
      parameters:
        - name: tags
          in: query
          style: spaceDelimited
          explode: false
          schema: { type: array, items: { type: string } }
        - name: kinds
          in: query
          style: pipeDelimited
          explode: false
          schema: { type: array, items: { type: string } }
      responses: { '200': { description: Seeds } }
YAML
GOBIN="$directory" go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 2>log
mkdir client
./oapi-codegen -generate types,client -package client -o client/client.go api.yaml
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
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	seeds, err := client.NewClient(server.URL)
	if err != nil {
		panic(err)
	}
	list := []string{"fern", "moss b"}
	one := []string{"moss b"}
	for _, params := range []client.ListSeedsParams{{Tags: &list}, {Tags: &one}, {Kinds: &list}} {
		response, err := seeds.ListSeeds(context.Background(), &params)
		if err != nil {
			panic(err)
		}
		fmt.Println(response.Request.URL.RequestURI(), response.StatusCode)
	}
}
GO
printf 'module seeds\n\ngo 1.26\n\nrequire github.com/oapi-codegen/runtime v1.9.0\n' >go.mod
go mod tidy 2>>log
go run . | tee output
diff output - <<'SEEN'
/seeds?tags=fern moss+b 400
/seeds?tags=moss+b 200
/seeds?kinds=fern|moss+b 200
SEEN
