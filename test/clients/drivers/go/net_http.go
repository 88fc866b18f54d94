package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// connect sends requests by net/http, as its users write them.
func connect(baseURL string, document Document) Send {
	return func(ctx context.Context, each *Case) (*Line, error) {
		operation := document[each.Operation]
		path, query, header, cookies := operation.Path, url.Values{}, http.Header{}, []*http.Cookie(nil)
		for _, parameter := range operation.Parameters {
			given, ok := each.Arguments[parameter.Name]
			if !ok {
				continue
			}
			value := untag(given)
			if parameter.Content != nil {
				content, err := json.Marshal(value)
				if err != nil {
					return nil, err
				}
				value = string(content)
			}
			switch parameter.In {
			case "path":
				path = strings.ReplaceAll(path, "{"+parameter.Name+"}", segment(parameter, value))
			case "query":
				addToQuery(query, parameter, parameter.Name, value)
			case "header":
				header.Set(parameter.Name, joined(value, ",", parameter.explode(), fmt.Sprint))
			case "cookie":
				members, isObject := value.(map[string]any)
				if !isObject || !parameter.explode() {
					members = map[string]any{parameter.Name: joined(value, ",", false, fmt.Sprint)}
				}
				for _, name := range names(members) {
					cookies = append(cookies, &http.Cookie{Name: name, Value: fmt.Sprint(members[name])})
				}
			}
		}
		var body io.Reader
		if each.HasBody {
			contentType, content := rawBody(operation.mediaTypeOf(each), untag(each.Body))
			header.Set("Content-Type", contentType)
			body = bytes.NewReader(content)
		}
		address := baseURL + path
		if len(query) > 0 {
			address += "?" + query.Encode()
		}
		request, err := http.NewRequestWithContext(ctx, operation.Method, address, body)
		if err != nil {
			return nil, err
		}
		request.Header = header
		for _, cookie := range cookies {
			request.AddCookie(cookie)
		}
		if err := addCredentials(ctx, request, each); err != nil {
			return nil, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, err
		}
		return readResponse(response)
	}
}

func (p Parameter) style() string {
	switch {
	case p.Style != "":
		return p.Style
	case p.In == "path" || p.In == "header":
		return "simple"
	}
	return "form"
}

func (p Parameter) explode() bool {
	if p.Explode != nil {
		return *p.Explode
	}
	return p.style() == "form"
}

// joined returns the items of a list, or the names and values of an object, with a delimiter.
func joined(value any, delimiter string, explode bool, encode func(...any) string) string {
	switch value := value.(type) {
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = encode(item)
		}
		return strings.Join(parts, delimiter)
	case map[string]any:
		between := delimiter
		if explode {
			between = "="
		}
		parts := []string{}
		for _, name := range names(value) {
			parts = append(parts, encode(name)+between+encode(value[name]))
		}
		return strings.Join(parts, delimiter)
	}
	return encode(value)
}

func segment(parameter Parameter, value any) string {
	escape := func(parts ...any) string { return url.PathEscape(fmt.Sprint(parts...)) }
	explode := parameter.explode()
	_, isArray := value.([]any)
	switch prefix := ";" + parameter.Name + "="; {
	case parameter.style() == "label" && explode:
		return "." + joined(value, ".", true, escape)
	case parameter.style() == "label":
		return "." + joined(value, ",", false, escape)
	case parameter.style() == "matrix" && explode && isArray:
		return prefix + joined(value, prefix, true, escape)
	case parameter.style() == "matrix" && explode:
		return ";" + joined(value, ";", true, escape)
	case parameter.style() == "matrix":
		return prefix + joined(value, ",", false, escape)
	}
	return joined(value, ",", explode, escape)
}

// addToQuery adds a value to a query, which url.Values encodes with its delimiters.
func addToQuery(query url.Values, parameter Parameter, name string, value any) {
	members, isObject := value.(map[string]any)
	items, isArray := value.([]any)
	style := parameter.style()
	switch {
	case style == "deepObject" && isObject:
		for _, member := range names(members) {
			addToQuery(query, parameter, name+"["+member+"]", members[member])
		}
	case parameter.explode() && isObject:
		for _, member := range names(members) {
			query.Add(member, fmt.Sprint(members[member]))
		}
	case parameter.explode() && isArray:
		for _, item := range items {
			query.Add(name, fmt.Sprint(item))
		}
	default:
		delimiter := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[style]
		if delimiter == "" {
			delimiter = ","
		}
		query.Add(name, joined(value, delimiter, false, fmt.Sprint))
	}
}

func readResponse(response *http.Response) (*Line, error) {
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	line := &Line{Status: response.StatusCode, Headers: headersOf(response.Header)}
	mediaType, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch {
	case len(content) == 0:
	case mediaType == "application/octet-stream":
		line.Response = printable(content)
	case mediaType == "application/jsonl":
		line.Response = itemsOf(content, "")
	case mediaType == "text/event-stream":
		line.Response = itemsOf(content, "data:")
	case strings.HasSuffix(mediaType, "json"):
		line.Response = decoded(content)
	default:
		line.Response = string(content)
	}
	return line, nil
}

// itemsOf returns the JSON values of the lines with a prefix.
func itemsOf(content []byte, prefix string) []any {
	items := []any{}
	for text := range strings.Lines(string(content)) {
		if data, ok := strings.CutPrefix(text, prefix); ok {
			items = append(items, decoded([]byte(data)))
		}
	}
	return items
}
