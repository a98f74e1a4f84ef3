// Package mark marks files as written by redlocksim: by a line near the beginning, where the format has a place for one, or by
// a first line that nothing else writes. To keep a file that you have edited, remove the line.
package mark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// Name is what generated files name as their generator.
const Name = "redlocksim"

// The marks, each a line of its own. In JSON it is the first member of the object, "generator", with Name as its value.
const (
	HTML   = `<meta name="generator" content="` + Name + `">`
	XML    = `<!-- ` + Comment + ` -->` // SVG, JUnit and Markdown, too
	YAML   = `# ` + Comment
	Go     = `// ` + Comment // JavaScript, too
	CSS    = `/* ` + Comment + ` */`
	inJSON = `"generator": "` + Name + `"`
	inHTML = `<meta name="generator" content="` + Name + `" />` // as XHTML has it

	// Comment is the mark in a comment of the format.
	Comment = `Generator: ` + Name
)

// JSON is the JSON form of a value, an object, as indented text with its mark.
func JSON(form any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(form); err != nil {
		return nil, err
	}
	members, ok := bytes.CutPrefix(b.Bytes(), []byte("{\n"))
	if !ok {
		return nil, fmt.Errorf("mark: %T is not an object with members", form)
	}
	return append([]byte("{\n  "+inJSON+",\n"), members...), nil
}

// Head is how many bytes of a file Is needs.
const Head = 4096

// Is reports whether a file that begins with head has a mark, or is in one of our formats without a place for one.
func Is(head []byte) bool {
	head = head[:min(len(head), Head)]
	for line := range bytes.Lines(head) {
		switch string(bytes.TrimSuffix(bytes.TrimSpace(line), []byte(","))) {
		case HTML, inHTML, XML, YAML, Go, CSS, inJSON:
			return true
		}
	}
	return unmarked.Match(head)
}

// unmarked is how files without a place for a mark begin: histories in JSON Lines.
var unmarked = regexp.MustCompile(`^\{"seq":1,"t":\d+,"kind":"`)
