package history

import (
	"bufio"
	"encoding/json"
	"io"
)

// Encode writes h as JSON Lines in UTF-8, one [Event] a line, in order, each line an object whose names are those of the
// Event's struct tags, ended by a newline.
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
	buffered := bufio.NewWriter(w)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	for i := range h {
		if err := lines.Encode(&h[i]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
