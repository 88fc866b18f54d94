package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"

	"client/api"
)

func connect(baseURL string, document Document) Send {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: baseURL}}
	client := reflect.ValueOf(api.NewAPIClient(configuration).DefaultAPI)
	return func(ctx context.Context, each *Case) (*Line, error) {
		operation := document[each.Operation]
		method := client.MethodByName(exported(each.Operation))
		if !method.IsValid() {
			return nil, missing("the generated code has no such operation")
		}
		request, err := build(withCredentials(ctx, each), method, operation, each)
		if err != nil {
			return nil, err
		}
		return lineOfResults(request.MethodByName("Execute").Call(nil))
	}
}

// build calls the setters of the generated request.
func build(ctx context.Context, method reflect.Value, operation *Operation, each *Case) (reflect.Value, error) {
	inputs := []reflect.Value{reflect.ValueOf(ctx)}
	others := map[string]any{}
	for name, value := range each.Arguments {
		others[name] = untag(value)
	}
	for _, parameter := range operation.Parameters {
		if parameter.In != "path" {
			continue
		}
		input := reflect.New(method.Type().In(len(inputs))).Elem()
		if err := assign(input, others[parameter.Name]); err != nil {
			return input, err
		}
		inputs = append(inputs, input)
		delete(others, parameter.Name)
	}
	request := method.Call(inputs)[0]
	if members, ok := untag(each.Body).(map[string]any); ok && isForm(operation.mediaTypeOf(each)) {
		others = members
	} else if each.HasBody {
		others[""] = untag(each.Body)
	}
	for name, value := range others {
		setter := setterFor(request, name)
		if !setter.IsValid() {
			return request, fmt.Errorf("the generated request has no method for %q", name)
		}
		input := reflect.New(setter.Type().In(0)).Elem()
		if err := assign(input, value); err != nil {
			return request, err
		}
		request = setter.Call([]reflect.Value{input})[0]
	}
	return request, nil
}

// setterFor returns the method of a request for a parameter, or without a name the one of the body, which is the only
// one beside Execute.
func setterFor(request reflect.Value, name string) reflect.Value {
	for i := range request.NumMethod() {
		method := request.Type().Method(i).Name
		if method != "Execute" && (name == "" || letters(method) == letters(name)) {
			return request.Method(i)
		}
	}
	return reflect.Value{}
}

func withCredentials(ctx context.Context, each *Case) context.Context {
	keys := map[string]api.APIKey{}
	for _, scheme := range []string{"keyHeader", "keyQuery", "keyCookie"} {
		if key := each.credential(scheme); key != "" {
			keys[scheme] = api.APIKey{Key: key}
		}
	}
	if len(keys) > 0 {
		ctx = context.WithValue(ctx, api.ContextAPIKeys, keys)
	}
	if token := each.credential("bearer"); token != "" {
		ctx = context.WithValue(ctx, api.ContextAccessToken, token)
	}
	if name, password, ok := each.basic(); ok {
		ctx = context.WithValue(ctx, api.ContextBasicAuth, api.BasicAuth{UserName: name, Password: password})
	}
	return ctx
}

// lineOfResults returns the line of what Execute returned: a value, if the operation has one, a response and an error.
func lineOfResults(results []reflect.Value) (*Line, error) {
	line := &Line{}
	count := len(results)
	if response, _ := results[count-2].Interface().(*http.Response); response != nil {
		line.Status, line.Headers = response.StatusCode, headersOf(response.Header)
	}
	err, _ := results[count-1].Interface().(error)
	var failure *api.GenericOpenAPIError
	if errors.As(err, &failure) {
		if line.Response = printable(failure.Model()); failure.Model() == nil && line.Status >= 300 {
			line.Response = decoded(failure.Body())
		}
		if line.Status >= 300 {
			return line, nil
		}
		// The response could not be decoded.
		line.Status = 0
		return line, err
	}
	if err == nil && count == 3 {
		line.Response = printable(results[0].Interface())
	}
	if err != nil {
		// The first member of an object, in an order that differs in each run.
		err = errors.New(memberName.ReplaceAllString(err.Error(), "[NAME]"))
	}
	return line, err
}

var memberName = regexp.MustCompile(`\[\w+\]`)
