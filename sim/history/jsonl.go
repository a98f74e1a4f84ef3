package history

import (
	"bufio"
	"bytes"
	encoding "encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxLine bounds a line of the file format, in bytes, its end included.
const maxLine = 1 << 20

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
	enc := encoding.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	buffered := bufio.NewWriter(w)
	for i := range h {
		line.Reset()
		if err := enc.Encode(&h[i]); err != nil {
			return &InvalidError{Line: i + 1, Err: err}
		}
		if line.Len() > maxLine {
			return &InvalidError{Line: i + 1, Err: ErrTooLong}
		}
		if _, err := buffered.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// Decode reads what [Encode] writes, up to the end of r, as a [Reader] does. The history is nil unless the error is.
func Decode(r io.Reader) (History, error) {
	in := NewReader(r)
	var h History
	for {
		var e Event
		switch err := in.Next(&e); {
		case err == io.EOF:
			return h, nil
		case err != nil:
			return nil, err
		}
		h = append(h, e)
	}
}

// maxTexts bounds the texts that a Reader keeps to have each in memory once. Most come again; those that do not, as
// details, must not fill the memory twice.
const maxTexts = 100_000

// Reader reads the file format of histories event by event, and keeps none.
//
// Inside a line, order and white space are free and fields may be zero; everything else that [Encode] does not write is
// refused: a field that is unknown, repeated, spelled in other case or of another type, half a surrogate pair, a line
// that is no object or holds more than one, an empty line, a last line without its newline, a line over 1 MiB, no
// line at all, and whatever [History.Validate] refuses.
type Reader struct {
	in    *bufio.Reader
	lines int
	time  int64 // of the event before
	texts map[string]string
}

// NewReader returns a Reader of in, which it reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, maxLine), texts: map[string]string{}}
}

// Next reads the next event into e. It returns [io.EOF] after the last, an [*InvalidError] for the first line that is
// refused, and an error of the underlying reader as it is; after any of them, e means nothing and there is no next.
func (r *Reader) Next(e *Event) error {
	line, err := r.in.ReadSlice('\n')
	r.lines++
	switch {
	case err == io.EOF && len(line) == 0 && r.lines > 1:
		return io.EOF
	case err == io.EOF && len(line) == 0:
		err = ErrEmpty
	case err == io.EOF:
		err = ErrTruncated
	case errors.Is(err, bufio.ErrBufferFull):
		err = ErrTooLong
	case err != nil:
		return err
	default:
		if err = e.read(line); err != nil {
			err = fmt.Errorf("%w: %w", ErrLine, err)
		} else {
			err = e.validate(r.lines, r.time)
		}
		r.time = e.Time
	}
	if err != nil {
		return &InvalidError{Line: r.lines, Err: err}
	}
	for _, text := range []*string{&e.Process, &e.Resource, &e.Name, &e.Node, &e.Detail} {
		*text = r.intern(*text)
	}
	return nil
}

func (r *Reader) intern(text string) string {
	t, ok := r.texts[text]
	if !ok && len(r.texts) < maxTexts {
		r.texts[text] = text
	}
	if ok {
		return t
	}
	return text
}

// strict refuses what encoding/json would take. Without it being said, version 2 refuses repeated names, names in other case
// and text that is not UTF-8.
var strict = json.JoinOptions(json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(in *jsontext.Decoder, _ any) error {
		if in.PeekKind() == 'n' {
			return errors.New("null")
		}
		return json.SkipFunc
	})))

// What the fields that every line has are before it is read.
const (
	noNumber = math.MinInt64
	noKind   = "\x00"
)

// read makes e the event of the line.
func (e *Event) read(line []byte) error {
	*e = Event{Seq: noNumber, Time: noNumber, Kind: noKind}
	if err := json.Unmarshal(line, e, strict); err != nil {
		return explained(err)
	}
	switch {
	case e.Seq == noNumber:
		return errors.New(`field "seq" is missing`)
	case e.Time == noNumber:
		return errors.New(`field "t" is missing`)
	case e.Kind == noKind:
		return errors.New(`field "kind" is missing`)
	}
	return nil
}

// explained says what is wrong with a line in words that do not need Go.
func explained(err error) error {
	if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) {
		field := semantic.JSONPointer.LastToken()
		switch {
		case semantic.JSONPointer == "":
			return errors.New("no JSON object")
		case semantic.Err == json.ErrUnknownName:
			return fmt.Errorf("field %.40q: unknown", field)
		case errors.Is(semantic.Err, strconv.ErrRange):
			return fmt.Errorf("field %q: too large a number", field)
		case semantic.GoType != nil && semantic.GoType.Kind() == reflect.String:
			return fmt.Errorf("field %q: not a text", field)
		}
		return fmt.Errorf("field %q: not a whole number", field)
	}
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) && syntax.Err == jsontext.ErrDuplicateName {
		return fmt.Errorf("field %.40q: twice", syntax.JSONPointer.LastToken())
	}
	return err
}
