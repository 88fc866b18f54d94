package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"

	"client/api"

	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/validate"
)

func connect(baseURL string, document Document) Send {
	security := &securitySource{}
	generated, err := api.NewClient(baseURL, security)
	check(err)
	client := reflect.ValueOf(generated)
	return func(ctx context.Context, each *Case) (*Line, error) {
		security.each = each
		method := client.MethodByName(exported(each.Operation))
		if !method.IsValid() {
			return nil, missing("")
		}
		inputs, err := inputsOf(ctx, method, document[each.Operation], each)
		if err != nil {
			return nil, err
		}
		return lineOfResults(method.Call(inputs), each)
	}
}

// inputsOf returns the context, the body and a struct of the parameters, if the method has them.
func inputsOf(ctx context.Context, method reflect.Value, operation *Operation, each *Case) ([]reflect.Value, error) {
	inputs := []reflect.Value{reflect.ValueOf(ctx)}
	left := len(each.Arguments)
	for i := 1; i < method.Type().NumIn(); i++ {
		input := reflect.New(method.Type().In(i)).Elem()
		inputs = append(inputs, input)
		if !strings.HasSuffix(input.Type().Name(), "Params") {
			if !each.HasBody {
				continue
			}
			if err := assignBody(input, untag(each.Body), operation.mediaTypeOf(each)); err != nil {
				return nil, err
			}
			continue
		}
		for name, value := range each.Arguments {
			field := input.FieldByNameFunc(func(field string) bool { return letters(field) == letters(name) })
			if !field.IsValid() {
				return nil, fmt.Errorf("the generated code has no parameter %q", name)
			}
			if err := assign(field, untag(value)); err != nil {
				return nil, err
			}
			left--
		}
	}
	if left > 0 {
		return nil, errors.New("the generated code has no parameters")
	}
	return inputs, nil
}

// assignBody sets a body. A union of media types is an interface, and text and bytes are readers in a struct.
func assignBody(target reflect.Value, value any, mediaType string) error {
	if target.Kind() == reflect.Interface {
		var body any = &api.Point{}
		if mediaType == "text/plain" {
			body = &api.BodySeveralTypesReqTextPlain{}
		}
		target.Set(reflect.ValueOf(body))
		return assignBody(target.Elem().Elem(), value, mediaType)
	}
	text, isText := value.(string)
	if target.Kind() == reflect.Struct && target.FieldByName("Data").IsValid() && isText {
		content := []byte(text)
		if !strings.HasPrefix(mediaType, "text/") {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return err
			}
			content = decoded
		}
		target.FieldByName("Data").Set(reflect.ValueOf(strings.NewReader(string(content))))
		return nil
	}
	return assign(target, value)
}

// lineOfResults returns the line of what a method returned: a value, if the operation has one, and an error.
func lineOfResults(results []reflect.Value, each *Case) (*Line, error) {
	line := &Line{}
	err, _ := results[len(results)-1].Interface().(error)
	var unexpected *validate.UnexpectedStatusCodeError
	if errors.As(err, &unexpected) {
		line.Status = unexpected.StatusCode
		content, _ := io.ReadAll(unexpected.Payload.Body)
		line.Response = decoded(content)
		return line, nil
	}
	if err != nil || len(results) == 1 {
		return line, err
	}
	// A copy, because methods for JSON belong to pointers.
	pointer := reflect.ValueOf(results[0].Interface())
	if pointer.Kind() != reflect.Pointer {
		pointer = reflect.New(pointer.Type())
		pointer.Elem().Set(results[0])
	}
	value := pointer.Elem()
	if value.Kind() != reflect.Struct {
		line.Response = printable(value.Interface())
		return line, nil
	}
	if stream, ok := results[0].Interface().(*api.ResponseEventStreamOK); ok {
		line.Response = eventsOf(stream)
		return line, nil
	}
	if reader, ok := pointer.Interface().(io.Reader); ok {
		content, err := io.ReadAll(reader)
		if line.Response = string(content); each.Operation == "responseOctetStream" {
			line.Response = printable(content)
		}
		return line, err
	}
	if hasTags(value.Type()) || pointer.MethodByName("MarshalJSON").IsValid() {
		line.Response = printable(pointer.Interface())
		return line, nil
	}
	readWrapper(value, line)
	return line, nil
}

// eventsOf returns the events of a stream. The client would connect again at its end, after a time.
func eventsOf(stream *api.ResponseEventStreamOK) []any {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	events := []any{}
	for event, err := range stream.All(ctx) {
		if err != nil {
			break
		}
		events = append(events, printable(&event.Data))
	}
	check(stream.Close())
	return events
}

// readWrapper reads a struct that has the status, headers and the body of a response.
func readWrapper(value reflect.Value, line *Line) {
	line.Headers = map[string]any{}
	for i := range value.NumField() {
		switch name := value.Type().Field(i).Name; name {
		case "StatusCode":
			line.Status = int(value.Field(i).Int())
		case "Response":
			line.Response = printable(value.Field(i).Addr().Interface())
		default:
			line.Headers[inner.ReplaceAllString(name, "$1-$2")] = printable(value.Field(i).Addr().Interface())
		}
	}
}

// inner finds where the name of a header in Go has had a hyphen.
var inner = regexp.MustCompile(`(\w)([A-Z])`)

type securitySource struct{ each *Case }

func (s *securitySource) Bearer(context.Context, api.OperationName) (api.Bearer, error) {
	token := s.each.credential("bearer")
	return api.Bearer{Token: token}, skipIf(token == "")
}

func (s *securitySource) Basic(context.Context, api.OperationName) (api.Basic, error) {
	name, password, ok := s.each.basic()
	return api.Basic{Username: name, Password: password}, skipIf(!ok)
}

func (s *securitySource) KeyHeader(context.Context, api.OperationName) (api.KeyHeader, error) {
	key := s.each.credential("keyHeader")
	return api.KeyHeader{APIKey: key}, skipIf(key == "")
}

func (s *securitySource) KeyQuery(context.Context, api.OperationName) (api.KeyQuery, error) {
	key := s.each.credential("keyQuery")
	return api.KeyQuery{APIKey: key}, skipIf(key == "")
}

func (s *securitySource) KeyCookie(context.Context, api.OperationName) (api.KeyCookie, error) {
	key := s.each.credential("keyCookie")
	return api.KeyCookie{APIKey: key}, skipIf(key == "")
}

func skipIf(isAbsent bool) error {
	if isAbsent {
		return ogenerrors.ErrSkipClientSecurity
	}
	return nil
}
