// Sends each case of cases.json by the `connect` of the file beside this one, and prints a line for each.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Case is a call of cases.json.
type Case struct {
	Operation   string          `json:"operation"`
	Name        string          `json:"case"`
	Arguments   map[string]any  `json:"arguments"`
	RawBody     json.RawMessage `json:"body"`
	MediaType   string          `json:"mediaType"`
	Credentials map[string]any  `json:"credentials"`

	// Body is the decoded body, if HasBody.
	Body    any  `json:"-"`
	HasBody bool `json:"-"`
}

// Line is what is printed for a case.
type Line struct {
	Operation string         `json:"operation"`
	Name      string         `json:"case"`
	Sent      bool           `json:"sent"`
	Missing   bool           `json:"missing,omitempty"`
	Status    int            `json:"status,omitempty"`
	Headers   map[string]any `json:"headers,omitempty"`
	Response  any            `json:"response,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// Send sends a case.
type Send func(ctx context.Context, each *Case) (*Line, error)

// missing is the error of an operation that the generated code does not have.
type missing string

func (m missing) Error() string { return string(m) }

func main() {
	document, casesFile, baseURL, controlURL := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	send := connect(baseURL, readDocument(document))
	content, err := os.ReadFile(casesFile)
	check(err)
	var cases []*Case
	check(decode(content, &cases))
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for _, each := range cases {
		if each.HasBody = each.RawBody != nil; each.HasBody {
			check(decode(each.RawBody, &each.Body))
		}
		response, err := http.Get(controlURL + "/" + each.Operation + "/" + url.PathEscape(each.Name))
		check(err)
		check(response.Body.Close())
		line := lineOf(send, each)
		line.Error = strings.ReplaceAll(line.Error, baseURL, "")
		check(output.Encode(line))
	}
}

func lineOf(send Send, each *Case) (line *Line) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	defer func() {
		if thrown := recover(); thrown != nil {
			line = &Line{Operation: each.Operation, Name: each.Name, Error: fmt.Sprint("panic: ", thrown)}
		}
	}()
	line, err := send(ctx, each)
	if line == nil {
		line = &Line{}
	}
	line.Operation, line.Name, line.Sent = each.Operation, each.Name, err == nil
	if _, line.Missing = err.(missing); err != nil && !line.Missing {
		line.Error = err.Error()
	}
	return line
}

// decode keeps all digits of numbers.
func decode(content []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(target)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
