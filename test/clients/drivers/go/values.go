package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// File is a file of a form.
type File struct{ Name, Type, Text string }

// untag returns a value of cases.json as JSON has it, with files as File.
func untag(value any) any {
	switch value := value.(type) {
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = untag(item)
		}
		return items
	case map[string]any:
		for _, tag := range []string{"$date", "$dateTime", "$bytes"} {
			if text, ok := value[tag].(string); ok {
				return text
			}
		}
		if digits, ok := value["$int64"].(string); ok {
			return json.Number(digits)
		}
		if file, ok := value["$file"].(map[string]any); ok {
			return File{file["name"].(string), file["type"].(string), file["text"].(string)}
		}
		members := map[string]any{}
		for name, member := range value {
			members[name] = untag(member)
		}
		return members
	}
	return value
}

// assign sets a variable of any type of generated code to an untagged value, as its user would.
func assign(target reflect.Value, value any) error {
	if target.Type() == reflect.TypeFor[*os.File]() {
		file, err := fileOf(value)
		target.Set(reflect.ValueOf(file))
		return err
	}
	if file, ok := value.(File); ok {
		return assignFile(target, file)
	}
	if target.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		target.Set(reflect.New(target.Type().Elem()))
		return assign(target.Elem(), value)
	}
	if setter := setterOf(target, value); setter.IsValid() {
		if setter.Type().NumIn() == 0 {
			setter.Call(nil)
			return nil
		}
		content := reflect.New(setter.Type().In(0)).Elem()
		if err := assign(content, value); err != nil {
			return err
		}
		setter.Call([]reflect.Value{content})
		return nil
	}
	members, isObject := value.(map[string]any)
	items, isArray := value.([]any)
	switch {
	case target.Kind() == reflect.Struct && isObject && hasTags(target.Type()):
		for name, member := range members {
			field := fieldOf(target, name)
			if !field.IsValid() {
				return fmt.Errorf("%s has no field for %s", target.Type(), name)
			}
			if err := assign(field, member); err != nil {
				return err
			}
		}
		return nil
	case target.Kind() == reflect.Slice && isArray:
		target.Set(reflect.MakeSlice(target.Type(), len(items), len(items)))
		for i, item := range items {
			if err := assign(target.Index(i), item); err != nil {
				return err
			}
		}
		return nil
	}
	if text, ok := value.(string); ok && target.Type() == reflect.TypeFor[time.Time]() && len(text) == len(time.DateOnly) {
		date, err := time.Parse(time.DateOnly, text)
		target.Set(reflect.ValueOf(date))
		return err
	}
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, target.Addr().Interface()); err != nil {
		return fmt.Errorf("%s cannot hold %s: %w", target.Type(), content, err)
	}
	return nil
}

// setterOf returns the method of a type for optional or nullable values, if it is one.
func setterOf(target reflect.Value, value any) reflect.Value {
	if value == nil {
		if null := target.Addr().MethodByName("SetToNull"); null.IsValid() {
			return null
		}
	}
	for _, name := range []string{"SetTo", "Set"} {
		setter := target.Addr().MethodByName(name)
		if target.Kind() == reflect.Struct && setter.IsValid() && setter.Type().NumIn() == 1 {
			return setter
		}
	}
	return reflect.Value{}
}

func hasTags(of reflect.Type) bool {
	for i := range of.NumField() {
		if of.Field(i).Tag.Get("json") != "" {
			return true
		}
	}
	return false
}

// fieldOf returns the field of a struct for a name of the document.
func fieldOf(target reflect.Value, name string) reflect.Value {
	for i := range target.NumField() {
		tag, _, _ := strings.Cut(target.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return target.Field(i)
		}
	}
	return reflect.Value{}
}

// assignFile sets a struct for a file of a form, by the usual names of its fields.
func assignFile(target reflect.Value, file File) error {
	if target.Kind() != reflect.Struct || !target.FieldByName("File").IsValid() {
		return fmt.Errorf("%s is no file", target.Type())
	}
	target.FieldByName("Name").SetString(file.Name)
	target.FieldByName("File").Set(reflect.ValueOf(strings.NewReader(file.Text)))
	target.FieldByName("Header").Set(reflect.ValueOf(textproto.MIMEHeader{"Content-Type": {file.Type}}))
	return nil
}

// fileOf returns a file of the disk with the name and the content of a file or of bytes.
func fileOf(value any) (*os.File, error) {
	name, content := "bytes", []byte(nil)
	switch value := value.(type) {
	case File:
		name, content = value.Name, []byte(value.Text)
	case string:
		bytes, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return nil, err
		}
		content = bytes
	default:
		return nil, fmt.Errorf("%v is no file", value)
	}
	directory, err := os.MkdirTemp(".", "file-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// printable returns a value of generated code in a form that JSON carries.
func printable(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case []byte:
		return map[string]string{"$bytes": base64.StdEncoding.EncodeToString(value)}
	case io.Reader:
		content, err := io.ReadAll(value)
		if err != nil {
			return "error: " + err.Error()
		}
		return printable(content)
	}
	content, err := json.Marshal(value)
	if err != nil {
		return "error: " + err.Error()
	}
	return json.RawMessage(content)
}

// decoded returns the JSON value of a body, or its text.
func decoded(body []byte) any {
	var value any
	if decode(body, &value) != nil {
		return string(body)
	}
	return value
}

// names returns the names of the members of an object in order.
func names(members map[string]any) []string {
	return slices.Sorted(maps.Keys(members))
}
