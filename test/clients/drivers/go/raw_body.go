// What users of the standard library write where generated code has nothing.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// rawBody returns a body as users of the standard library write it.
func rawBody(mediaType string, body any) (string, []byte) {
	var content bytes.Buffer
	switch {
	case strings.HasPrefix(mediaType, "multipart/"):
		form := multipart.NewWriter(&content)
		for _, name := range names(body.(map[string]any)) {
			value := body.(map[string]any)[name]
			items, ok := value.([]any)
			if !ok {
				items = []any{value}
			}
			for _, item := range items {
				check(writePart(form, name, item))
			}
		}
		check(form.Close())
		return form.FormDataContentType(), content.Bytes()
	case mediaType == "application/jsonl":
		encoder := json.NewEncoder(&content)
		for _, item := range body.([]any) {
			check(encoder.Encode(item))
		}
	case mediaType == "application/octet-stream":
		decoded, err := base64.StdEncoding.DecodeString(body.(string))
		check(err)
		content.Write(decoded)
	case strings.HasPrefix(mediaType, "text/"):
		content.WriteString(body.(string))
	case mediaType == "application/x-www-form-urlencoded":
		values := url.Values{}
		for name, value := range body.(map[string]any) {
			items, ok := value.([]any)
			if !ok {
				items = []any{value}
			}
			for _, item := range items {
				values.Add(name, fmt.Sprint(item))
			}
		}
		content.WriteString(values.Encode())
	default:
		check(json.NewEncoder(&content).Encode(body))
	}
	return mediaType, content.Bytes()
}

func writePart(form *multipart.Writer, name string, value any) error {
	switch value := value.(type) {
	case string:
		return form.WriteField(name, value)
	case File:
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", multipart.FileContentDisposition(name, value.Name))
		header.Set("Content-Type", value.Type)
		part, err := form.CreatePart(header)
		if err == nil {
			_, err = io.WriteString(part, value.Text)
		}
		return err
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name=%q`, name))
	header.Set("Content-Type", "application/json")
	part, err := form.CreatePart(header)
	if err != nil {
		return err
	}
	return json.NewEncoder(part).Encode(value)
}

// addCredentials adds the credentials of a case to a request.
func addCredentials(_ context.Context, request *http.Request, each *Case) error {
	if token := each.credential("bearer"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if name, password, ok := each.basic(); ok {
		request.SetBasicAuth(name, password)
	}
	if key := each.credential("keyHeader"); key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	if key := each.credential("keyQuery"); key != "" {
		query := request.URL.Query()
		query.Set("api_key", key)
		request.URL.RawQuery = query.Encode()
	}
	if key := each.credential("keyCookie"); key != "" {
		request.AddCookie(&http.Cookie{Name: "api_key", Value: key})
	}
	return nil
}
