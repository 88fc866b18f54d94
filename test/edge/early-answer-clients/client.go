// Sends uploads with net/http: client URL TOKEN BYTES TRIES prints the status or the error of each try.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	size, _ := strconv.Atoi(os.Args[3])
	tries, _ := strconv.Atoi(os.Args[4])
	body := bytes.Repeat([]byte("a"), size)
	for i := 0; i < tries; i++ {
		request, _ := http.NewRequest("POST", os.Args[1], bytes.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println(err)
			continue
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		fmt.Println(response.StatusCode)
	}
}
