package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"unicode"
)

// Parameter is a parameter of an operation.
type Parameter struct {
	Name    string         `json:"name"`
	In      string         `json:"in"`
	Style   string         `json:"style"`
	Explode *bool          `json:"explode"`
	Content map[string]any `json:"content"`
}

// Operation is what a driver reads of an operation.
type Operation struct {
	Method      string
	Path        string
	ID          string      `json:"operationId"`
	Parameters  []Parameter `json:"parameters"`
	RequestBody struct {
		Content map[string]any `json:"content"`
	} `json:"requestBody"`
}

// Document has the operations by their ids.
type Document map[string]*Operation

func readDocument(path string) Document {
	content, err := os.ReadFile(path)
	check(err)
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	check(json.Unmarshal(content, &document))
	operations := Document{}
	for path, methods := range document.Paths {
		for method, text := range methods {
			operation := &Operation{Method: strings.ToUpper(method), Path: path}
			check(json.Unmarshal(text, operation))
			operations[operation.ID] = operation
		}
	}
	return operations
}

// mediaTypeOf returns the media type of the body of a case.
func (o *Operation) mediaTypeOf(each *Case) string {
	if each.MediaType != "" {
		return each.MediaType
	}
	for mediaType := range o.RequestBody.Content {
		return mediaType
	}
	return ""
}

// isForm tells whether the members of a body are fields of a form.
func isForm(mediaType string) bool {
	return strings.HasPrefix(mediaType, "multipart/") || mediaType == "application/x-www-form-urlencoded"
}

// exported returns the name that Go code can have for an operation.
func exported(name string) string {
	return strings.ToUpper(name[:1]) + name[1:]
}

// letters returns the ASCII letters and digits of a name in lower case, so that names of the document and of generated
// code are equal.
func letters(name string) string {
	return strings.Map(func(char rune) rune {
		if char <= unicode.MaxASCII && (unicode.IsLetter(char) || unicode.IsDigit(char)) {
			return unicode.ToLower(char)
		}
		return -1
	}, name)
}

// credential returns a text of the credentials of a case.
func (c *Case) credential(scheme string) string {
	text, _ := c.Credentials[scheme].(string)
	return text
}

// basic returns the user name and the password of a case.
func (c *Case) basic() (string, string, bool) {
	pair, ok := c.Credentials["basic"].(map[string]any)
	if !ok {
		return "", "", false
	}
	return pair["username"].(string), pair["password"].(string), true
}

// headersOf returns the fields of a response, as a client offers them.
func headersOf(header http.Header) map[string]any {
	headers := map[string]any{}
	for name, values := range header {
		headers[name] = strings.Join(values, ", ")
	}
	return headers
}
