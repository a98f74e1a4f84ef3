package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/input"
)

// MaxBytes is the size of the largest file that is read: 1 MiB.
const MaxBytes = 1 << 20

// parse returns the root of the only document of data.
func parse(file string, data []byte) (*yaml.Node, *Error) {
	at := func(offset int, word, format string, args ...any) *Error {
		line, column := position(data, offset)
		return Errorf(file, line, column, word, nil, format, args...)
	}
	if len(data) > MaxBytes {
		return nil, at(0, "", "the file is larger than %d bytes", MaxBytes)
	}
	if offset, ok := firstUnreadable(data); ok {
		return nil, at(offset, "", "byte 0x%02x is not text in UTF-8", data[offset])
	}
	documents, err := parseAll(data)
	if err != nil {
		return nil, syntaxError(data, err, at)
	}
	if len(documents) > 1 {
		n := documents[1]
		return nil, Errorf(file, n.Line, n.Column, "", nil, "a second document; a file holds one")
	}
	if len(documents) == 0 || isNothing(documents[0]) {
		return nil, at(0, "", "the file is empty")
	}
	return documents[0].Content[0], nil
}

// isNothing tells the document of a bare "---" from one that says null.
func isNothing(document *yaml.Node) bool {
	root := document.Content[0]
	return isNull(root) && root.Value == "" && root.Anchor == "" && root.Style&yaml.TaggedStyle == 0
}

// parseAll returns the first document and, if there is one, the second.
func parseAll(data []byte) (documents []*yaml.Node, err error) {
	// The parser panics in states that it does not expect.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return documents, err
		}
		documents = append(documents, &document)
	}
	return documents, nil
}

func firstUnreadable(data []byte) (int, bool) {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, true
		case unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' && r != '\u0085':
			return i, true
		}
		i += size
	}
	return 0, false
}

var (
	parserMessage = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`(?s)^unknown anchor '(.*)' referenced$`)
)

func syntaxError(data []byte, err error, at func(int, string, string, ...any) *Error) *Error {
	line, message := splitParserMessage(err)
	offset := syntaxOffset(data, line, message)
	text := data[:offset]
	start := bytes.LastIndexByte(text, '\n') + 1
	whole, _, _ := bytes.Cut(data[start:], []byte("\n"))
	word := strings.TrimSpace(string(whole))

	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		start := max(0, bytes.LastIndexByte(data[:min(offset+1, len(data))], '*'))
		return at(start, "*"+m[1], aliasRefused)
	}
	if indent := len(whole) - len(bytes.TrimLeft(whole, " \t")); bytes.ContainsRune(whole[:indent], '\t') {
		return at(start+bytes.IndexByte(whole, '\t'), word, "indented with a tab; use spaces")
	}
	if message == "mapping values are not allowed in this context" {
		message = "a second colon, or an indent that does not fit; text with a colon needs quotes"
	}
	return at(offset, word, "not YAML: %s", message)
}

func splitParserMessage(err error) (line int, message string) {
	m := parserMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// syntaxOffset finds where the parser met a fault. The parser itself gives at most a line, which for some faults is the line
// before, and for others the line where the surrounding block began. But it reads from the front, so the fault is at the end of
// the shortest piece of the file that shows it: first in whole lines, then within the last of them. Lines before the one that
// the parser names are taken as sound, since there an unrelated text cut in two (a quoted one, say) could show the same
// message. Of a bracket that is not closed as it should be, the column is one after it, not always the exact one.
func syntaxOffset(data []byte, named int, message string) int {
	shows := func(length int) bool {
		_, err := parseAll(data[:length])
		if err == nil {
			return false
		}
		_, got := splitParserMessage(err)
		return got == message
	}
	ends := lineEnds(data)
	sound := max(0, min(named-1, len(ends)-1))
	bad := sound + shortest(len(ends)-1-sound, func(n int) bool { return shows(ends[sound+n]) })
	start := 0
	if bad > 0 {
		start = ends[bad-1]
	}
	length := shortest(ends[bad]-start, func(n int) bool { return shows(start + n) })
	_, size := utf8.DecodeLastRune(data[start : start+length])
	return start + length - size
}

// shortest is a binary search for the least n in [0, limit) that holds, or limit.
func shortest(limit int, holds func(int) bool) int {
	low, high := 0, limit
	for low < high {
		if mid := (low + high) / 2; holds(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// lineEnds are the offsets after each line; there is always at least one.
func lineEnds(data []byte) []int {
	var ends []int
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || ends[len(ends)-1] != len(data) {
		ends = append(ends, len(data))
	}
	return ends
}

// position counts lines and characters from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
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
		return Errors{Errorf(file, 1, 1, "", nil, "the file is larger than %d bytes", MaxBytes)}.Err()
	}
	return err
}
