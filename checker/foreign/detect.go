package foreign

import (
	"bytes"
	"io"
)

// encodings are beginnings of files that are no text in UTF-8, and what to do with them.
var encodings = []struct{ begins, is string }{
	{"\xff\xfe", utf16}, {"\xfe\xff", utf16}, {"{\x00", utf16}, {"\x00{", utf16}, {"[\x00", utf16}, {"\x00[", utf16},
	{"\x1f\x8b", "the file is compressed with gzip: zcat FILE | redlocksim check … -"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd: zstdcat FILE | redlocksim check … -"},
}

const utf16 = "the file is UTF-16; make it UTF-8: iconv -f UTF-16 -t UTF-8 FILE | redlocksim check … -"

// begin skips a byte-order mark, and tells the format by how the history begins. It consumes nothing of a history that is
// Native.
func (s *scanner) begin() (Format, error) {
	head, err := s.in.Peek(s.in.Size())
	if err != nil && err != io.EOF {
		return "", err
	}
	for _, e := range encodings {
		if bytes.HasPrefix(head, []byte(e.begins)) {
			return "", s.wrong(ErrSyntax, "%s", e.is)
		}
	}
	if marked := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, marked) {
		head = head[len(marked):]
		s.in.Discard(len(marked)) // is there
	}
	format, err := s.detect(head)
	if err != nil {
		return "", err
	}
	if s.json = format == JSON; format != Native {
		s.c, s.err = s.in.ReadByte()
	}
	return format, nil
}

func (s *scanner) detect(head []byte) (Format, error) {
	rest := skipTo(head)
	if len(rest) == 0 {
		return "", s.wrong(ErrEmpty, "the file is empty")
	}
	for len(rest) > 0 && rest[0] == '[' {
		rest = skipTo(rest[1:])
	}
	switch {
	case len(rest) == 0 || rest[0] == ']':
		return "", s.wrong(ErrEmpty, "there is nothing in it")
	case rest[0] == '#' || rest[0] == '(':
		return EDN, nil
	case rest[0] != '{':
		s.line += bytes.Count(head[:len(head)-len(rest)], []byte("\n"))
		return "", s.wrong(ErrSyntax, "%q is not how a history begins, as JSON Lines, EDN or JSON", rest[0])
	}
	rest = skipTo(rest[1:])
	if len(rest) == 0 || rest[0] != '"' {
		return EDN, nil
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 0 {
		return JSON, nil
	}
	if after := skipTo(rest[end+2:]); len(after) == 0 || after[0] != ':' {
		return EDN, nil
	}
	// The project's own has the field kind, which Jepsen's have not, and not type, which they have.
	first, _, _ := bytes.Cut(head, []byte("\n"))
	has := func(field string) bool { return bytes.Contains(first, []byte(`"`+field+`"`)) }
	if bytes.HasPrefix(first, []byte(`{"seq":`)) || bytes.HasPrefix(first, []byte("{")) && has("kind") && !has("type") {
		return Native, nil
	}
	return JSON, nil
}

// skipTo is what follows white space, commas and comments.
func skipTo(b []byte) []byte {
	for {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 || b[0] != ';' {
			return b
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return nil
		}
		b = b[end:]
	}
}
