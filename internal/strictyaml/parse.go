package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/input"
)

// MaxBytes is the size of the largest file that is read: 1 MiB.
const MaxBytes = 1 << 20

// parse returns the root of the only document of data.
func parse(file string, data []byte) (*yaml.Node, *Error) {
	if len(data) > MaxBytes {
		return nil, tooLong(file)
	}
	if at := unreadable(data); at >= 0 {
		line, column := position(data, at)
		return nil, Errorf(file, line, column, "", nil, "byte 0x%02x is not text in UTF-8", data[at])
	}
	documents, err := parseAll(data)
	switch {
	case err != nil:
		return nil, syntaxError(file, data, err)
	case len(documents) > 1:
		return nil, Errorf(file, documents[1].Line, documents[1].Column, "", nil, "a second document; a file holds one")
	case len(documents) == 0 || isNull(content(documents[0])) && content(documents[0]).Value == "":
		return nil, Errorf(file, 1, 1, "", nil, "the file is empty")
	}
	return content(documents[0]), nil
}

// ValueOf is the node of a value that is written as text, as [A, B] or 5s.
func ValueOf(text string) (*yaml.Node, error) {
	n, wrong := parse("", []byte(text))
	if wrong != nil {
		return nil, wrong
	}
	return n, nil
}

// parseAll returns the first document and, if there is one, the second.
func parseAll(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser panics in states that it does not expect
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 && err == nil {
		var document yaml.Node
		if err = decoder.Decode(&document); err == nil {
			documents = append(documents, &document)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return documents, err
}

// unreadable is the offset of the first byte that is not text; −1 if all is.
func unreadable(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' && r != '\u0085' {
			return i
		}
		i += size
	}
	return -1
}

// position counts lines and characters from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

var parserMessage = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// faultOf is what the parser says, and the line that it names, or 0.
func faultOf(err error) (line int, message string) {
	m := parserMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// syntaxError locates what the parser complains of. The parser itself gives at most a line, which for some faults is the line
// before, and for others the line where the surrounding block began. But it reads from the front, so the fault is at the end of
// the shortest piece of the file that shows it: first in whole lines, then within the last of them. Lines before the one that
// the parser names are taken as sound, since there an unrelated text cut in two could show the same message.
func syntaxError(file string, data []byte, err error) *Error {
	named, message := faultOf(err)
	shows := func(length int) bool {
		_, err := parseAll(data[:length])
		if err == nil {
			return false
		}
		_, same := faultOf(err)
		return same == message
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	offset := func(n int) int { return len(bytes.Join(lines[:n], nil)) }
	first := max(0, min(named, len(lines))-1)
	bad := first + sort.Search(len(lines)-1-first, func(n int) bool { return shows(offset(first + n + 1)) })
	start := offset(bad)
	length := sort.Search(len(lines[bad]), func(n int) bool { return shows(start + n) })
	_, size := utf8.DecodeLastRune(data[start : start+length])

	indented := bytes.TrimLeft(lines[bad], " \t")
	line, column := position(data, start+length-size)
	word := string(bytes.TrimSpace(indented))
	if tab := bytes.IndexByte(lines[bad][:len(lines[bad])-len(indented)], '\t'); tab >= 0 {
		return Errorf(file, line, tab+1, word, nil, "indented with a tab; use spaces")
	}
	if message == "mapping values are not allowed in this context" {
		message = "a second colon, or an indent that does not fit; text with a colon needs quotes"
	}
	return Errorf(file, line, column, word, nil, "not YAML: %s", message)
}

// ReadFile reads a file for [Decode]. One above [MaxBytes] is not read further and gives an [Errors]; one that cannot be read,
// an error of package os.
func ReadFile(path string) ([]byte, error) {
	data, err := input.ReadFile(path, MaxBytes)
	return data, tooLarge(path, err)
}

// Read is ReadFile for a reader; file is what it is called in errors.
func Read(file string, r io.Reader) ([]byte, error) {
	data, err := input.Read(file, r, MaxBytes)
	return data, tooLarge(file, err)
}

func tooLarge(file string, err error) error {
	if errors.Is(err, input.ErrTooLarge) {
		return Errors{tooLong(file)}
	}
	return err
}

func tooLong(file string) *Error {
	return Errorf(file, 1, 1, "", nil, "the file is larger than %d bytes", MaxBytes)
}
