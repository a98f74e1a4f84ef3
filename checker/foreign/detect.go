package foreign

import (
	"bytes"
	"io"
)

// encoded skips a byte-order mark, and refuses what is no text in UTF-8.
func (s *scanner) encoded() error {
	// Fill the buffer as far as it goes, so that the first operation is in it.
	for s.err == nil && s.n < len(s.buf) {
		var n int
		n, s.err = s.in.Read(s.buf[s.n:])
		s.n += n
		if n == 0 && s.err == nil {
			break
		}
	}
	if s.err != nil && s.err != io.EOF {
		return s.err
	}
	begins := func(with string) bool { return bytes.HasPrefix(s.buf[:s.n], []byte(with)) }
	switch {
	case begins("\xef\xbb\xbf"):
		s.at = 3
	case begins("\xff\xfe"), begins("\xfe\xff"), begins("{\x00"), begins("\x00{"), begins("[\x00"), begins("\x00["):
		return s.wrong(ErrSyntax, "the file is UTF-16; make it UTF-8: iconv -f UTF-16 -t UTF-8 FILE | "+
			"redlocksim check … -")
	case begins("\x1f\x8b"):
		return s.wrong(ErrSyntax, "the file is compressed with gzip: zcat FILE | redlocksim check … -")
	case begins("\x28\xb5\x2f\xfd"):
		return s.wrong(ErrSyntax, "the file is compressed with zstd: zstdcat FILE | redlocksim check … -")
	}
	return nil
}

// detect tells the format by how the history begins, and consumes nothing.
func (s *scanner) detect() (Format, error) {
	head := s.buf[s.at:s.n]
	rest := skipTo(head)
	if len(rest) == 0 {
		return "", s.wrong(ErrEmpty, "the file is empty")
	}
	for len(rest) > 0 && (rest[0] == '[' || rest[0] == '(') {
		if rest[0] == '(' {
			return EDN, nil
		}
		rest = skipTo(rest[1:])
	}
	switch {
	case len(rest) == 0 || rest[0] == ']':
		return "", s.wrong(ErrEmpty, "there is nothing in it")
	case rest[0] == '#':
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
	if head[0] == '{' && s.isNative(head) {
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

// isNative reports whether the first object has the field kind, which Jepsen's have not, and not type, which they have.
// A first object that is not even complete is called native if it begins as one.
func (s *scanner) isNative(head []byte) bool {
	first := newScanner(bytes.NewReader(head))
	first.json = true
	if _, ok, err := first.next(); !ok || err != nil {
		return bytes.HasPrefix(head, []byte(`{"seq":`))
	}
	kind, typ := false, false
	for key := int32(1); key < first.nodes[0].end; key = first.nodes[first.nodes[key].end].end {
		switch string(first.textOf(&first.nodes[key])) {
		case "kind":
			kind = true
		case "type":
			typ = true
		}
	}
	return kind && !typ
}
