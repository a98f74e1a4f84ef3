package mark

import (
	"strings"
	"testing"
)

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"":                    false,
		"# notes\n":           false,
		YAML + "\ntitle: x\n": true,
		"title: x\n\n" + YAML: true,
		// A line that has more in it is somebody's who writes about the mark.
		"see " + YAML + "\n":                               false,
		YAML + ", edited\n":                                false,
		Go + "\n\npackage x\n":                             true,
		CSS + "\nbody {}\n":                                true,
		"<!DOCTYPE html>\r\n  " + HTML + "\r\n":            true,
		"<head>\n    " + inHTML + "\n":                     true,
		"<?xml version=\"1.0\"?>\n" + XML + "\n<svg/>":     true,
		"{\n \"generator\": \"redlocksim\",\n \"x\": 1\n}": true,
		"{\n  \"generator\": \"redlocksim\"\n}":            true,
		"{\n  \"generator\": \"other\"\n}":                 false,
		// What has no place for a mark.
		"{\"seq\":1,\"t\":0,\"kind\":\"call\",\"process\":\"c1\"}\n":             true,
		"{\"seq\":2,\"t\":0,\"kind\":\"call\",\"process\":\"c1\"}\n":             false,
		"{\"process\":\"a\",\"type\":\"invoke\",\"f\":\"acquire\",\"time\":1}\n": false,
		// A mark far down is not looked for.
		strings.Repeat("x\n", Head/2) + YAML + "\n": false,
	} {
		if got := Is([]byte(text)); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	data, err := JSON(struct {
		A string `json:"a"`
	}{"<"})
	if want := "{\n  \"generator\": \"redlocksim\",\n  \"a\": \"<\"\n}\n"; err != nil || string(data) != want || !Is(data) {
		t.Errorf("got %q, want %q: %v", data, want, err)
	}
	for _, form := range []any{[]int{1}, struct{}{}, func() {}} {
		if data, err := JSON(form); err == nil {
			t.Errorf("%T has no place for a mark, and is %q", form, data)
		}
	}
}
