package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
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
	enc := json.NewEncoder(&line)
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
