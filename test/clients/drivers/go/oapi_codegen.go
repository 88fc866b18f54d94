package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strings"

	"client/api"
)

func connect(baseURL string, document Document) Send {
	generated, err := api.NewClientWithResponses(baseURL)
	check(err)
	client := reflect.ValueOf(generated)
	return func(ctx context.Context, each *Case) (*Line, error) {
		operation := document[each.Operation]
		method, inputs, err := bodyOf(client, operation, each)
		if err != nil {
			return nil, err
		}
		method, inputs, err = callOf(ctx, method, inputs, operation, each)
		if err != nil {
			return nil, err
		}
		results := method.Call(inputs)
		if err, _ := results[1].Interface().(error); err != nil {
			return nil, err
		}
		return lineOfResponse(results[0].Elem()), nil
	}
}

// bodyOf returns the method for a body, and its inputs for the body: a value, or a content type and a reader where the
// generated code has no type for the body.
func bodyOf(client reflect.Value, operation *Operation, each *Case) (reflect.Value, []reflect.Value, error) {
	name := exported(each.Operation)
	raw := client.MethodByName(name + "WithBodyWithResponse")
	if !raw.IsValid() {
		method := client.MethodByName(name + "WithResponse")
		if !method.IsValid() {
			return method, nil, missing("")
		}
		return method, nil, nil
	}
	if !each.HasBody {
		return raw, []reflect.Value{reflect.ValueOf(""), reflect.Zero(reflect.TypeFor[io.Reader]())}, nil
	}
	mediaType := operation.mediaTypeOf(each)
	if method := methodFor(client, name, mediaType); method.IsValid() {
		body := reflect.New(method.Type().In(method.Type().NumIn() - 2)).Elem()
		err := assign(body, untag(each.Body))
		return method, []reflect.Value{body}, err
	}
	contentType, content := rawBody(mediaType, untag(each.Body))
	return raw, []reflect.Value{reflect.ValueOf(contentType), reflect.ValueOf(bytes.NewReader(content))}, nil
}

// methodFor returns the method that has a type for bodies of a media type.
func methodFor(client reflect.Value, name, mediaType string) reflect.Value {
	short := map[string]string{
		"application/json":                  "WithResponse",
		"application/x-www-form-urlencoded": "WithFormdataBodyWithResponse",
		"text/plain":                        "WithTextBodyWithResponse",
	}
	if suffix, ok := short[mediaType]; ok {
		return client.MethodByName(name + suffix)
	}
	wanted := letters(name + "With" + strings.ReplaceAll(mediaType, "+", "plus") + "BodyWithResponse")
	for i := range client.NumMethod() {
		if letters(client.Type().Method(i).Name) == wanted {
			return client.Method(i)
		}
	}
	return reflect.Value{}
}

// callOf returns the inputs of a method in its order: the context, the parameters in the path, a struct with the others,
// the body, and a function that adds credentials.
func callOf(
	ctx context.Context, method reflect.Value, body []reflect.Value, operation *Operation, each *Case,
) (reflect.Value, []reflect.Value, error) {
	inputs := []reflect.Value{reflect.ValueOf(ctx)}
	next := func() reflect.Value { return reflect.New(method.Type().In(len(inputs))).Elem() }
	others := map[string]any{}
	for _, parameter := range operation.Parameters {
		value, ok := each.Arguments[parameter.Name]
		if parameter.In != "path" {
			if ok {
				others[parameter.Name] = untag(value)
			}
			continue
		}
		input := next()
		if err := assign(input, untag(value)); err != nil {
			return method, nil, err
		}
		inputs = append(inputs, input)
	}
	if len(inputs)+len(body)+1 < method.Type().NumIn() {
		input := next()
		if err := assign(input, others); err != nil {
			return method, nil, err
		}
		inputs = append(inputs, input)
	}
	inputs = append(inputs, body...)
	return method, append(inputs, reflect.ValueOf(api.RequestEditorFn(func(ctx context.Context, request *http.Request) error {
		return addCredentials(ctx, request, each)
	}))), nil
}

// lineOfResponse returns the line of a generated struct: the decoded body of the first media type and status that
// matched, or the bytes, which are all that it has of other bodies.
func lineOfResponse(response reflect.Value) *Line {
	received := response.FieldByName("HTTPResponse").Interface().(*http.Response)
	line := &Line{Status: received.StatusCode, Headers: headersOf(received.Header)}
	for i := range response.NumField() {
		field, name := response.Field(i), response.Type().Field(i).Name
		if field.Kind() != reflect.Pointer || field.IsNil() || name == "HTTPResponse" {
			continue
		}
		if !strings.HasPrefix(name, "Headers") {
			line.Response = printable(field.Interface())
			return line
		}
	}
	body := response.FieldByName("Body").Bytes()
	mediaType := received.Header.Get("Content-Type")
	switch {
	case len(body) == 0:
	case mediaType == "application/octet-stream":
		line.Response = printable(body)
	case strings.Contains(mediaType, "json") && mediaType != "application/jsonl":
		line.Response = decoded(body)
	default:
		line.Response = string(body)
	}
	return line
}
