package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// MaxLine bounds a line of the file format, in bytes, its end included.
const MaxLine = 1 << 20

// Encode writes h in the file format of histories: JSON Lines in UTF-8, one [Event] a line, in order, each line an
// object whose names are those of the Event's struct tags, ended by a newline.
//
//	{"seq":1,"t":0,"kind":"call","process":"c1","op":1,"f":"acquire","resource":"r"}
//	{"seq":2,"t":1500000,"kind":"return","process":"c1","op":1,"f":"acquire","resource":"r","outcome":"ok"}
//
// seq, t (true time in nanoseconds) and kind are on every line, the others where they are not zero. Numbers are
// integers. The same history always gives the same bytes.
//
// Encode returns an [*InvalidError], having written nothing, if h is not valid; otherwise w's error.
func Encode(w io.Writer, h History) error {
	if err := h.Validate(); err != nil {
		return err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	buffered := bufio.NewWriter(w)
	for i := range h {
		line.Reset()
		if err := enc.Encode(&h[i]); err != nil {
			return &InvalidError{Line: i + 1, Err: err}
		}
		if line.Len() > MaxLine {
			return &InvalidError{Line: i + 1, Err: ErrTooLong}
		}
		if _, err := buffered.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// Decode reads what [Encode] writes, up to the end of r. Inside a line, order and white space are free and fields may be
// zero; everything else is refused with an [*InvalidError]: a field that is unknown, repeated, spelled in other case or
// of another type, a line that is no object or holds more than one, an empty line, a last line without its newline, a
// line over [MaxLine], no line at all, and whatever [History.Validate] refuses. An error of r itself is returned as it
// is. The history is nil unless the error is.
func Decode(r io.Reader) (History, error) {
	in := bufio.NewReaderSize(r, MaxLine)
	var h History
	var last int64
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) > 0:
			return nil, &InvalidError{Line: n, Err: ErrTruncated}
		case err == io.EOF && n == 1:
			return nil, &InvalidError{Line: n, Err: ErrEmpty}
		case err == io.EOF:
			return h, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, &InvalidError{Line: n, Err: ErrTooLong}
		case err != nil:
			return nil, err
		}
		var e Event
		if err := e.parse(line); err != nil {
			return nil, &InvalidError{Line: n, Err: fmt.Errorf("%w: %w", ErrLine, err)}
		}
		if err := e.validate(n, last); err != nil {
			return nil, &InvalidError{Line: n, Err: err}
		}
		last = e.Time
		h = append(h, e)
	}
}

// parse reads the object token by token: json.Unmarshal would take repeated names, names in other case, null, and
// text that is not UTF-8.
func (e *Event) parse(line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New("no JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("field %q twice", name)
		}
		seen[name] = true
		value, err := dec.Token()
		if err != nil {
			return err
		}
		if err := e.set(name, value); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one object")
	}
	for _, name := range [...]string{"seq", "t", "kind"} {
		if !seen[name] {
			return fmt.Errorf("field %q is missing", name)
		}
	}
	return nil
}

func (e *Event) set(name string, value json.Token) error {
	text, isText := value.(string)
	var number int64
	var notNumber error = errors.New("not a number")
	if n, ok := value.(json.Number); ok {
		number, notNumber = strconv.ParseInt(n.String(), 10, 64)
	}
	isInt := notNumber == nil && int64(int(number)) == number
	switch name {
	case "t":
		e.Time = number
	case "number":
		e.Number = number
	case "span":
		e.Span = number
	case "token":
		e.Token = number
	case "seq", "op", "grant":
		if notNumber == nil && !isInt {
			return strconv.ErrRange
		}
		switch name {
		case "seq":
			e.Seq = int(number)
		case "op":
			e.Op = int(number)
		case "grant":
			e.Grant = int(number)
		}
	default:
		switch name {
		case "kind":
			e.Kind = Kind(text)
		case "process":
			e.Process = text
		case "f":
			e.Func = Func(text)
		case "resource":
			e.Resource = text
		case "outcome":
			e.Outcome = Outcome(text)
		case "name":
			e.Name = text
		case "node":
			e.Node = text
		case "detail":
			e.Detail = text
		default:
			return errors.New("unknown")
		}
		if !isText {
			return errors.New("not a text")
		}
		return nil
	}
	return notNumber
}
