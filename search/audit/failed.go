package audit

import (
	"redlocksim/internal/outfile"
	"redlocksim/search"
)

// failed takes in the runs of an audit that fail, which a command makes again.
type failed struct {
	repeat string
	all    *search.Failures
}

// note takes in one, and says so in a line.
func (f failed) note(err error) string {
	one := search.NewFailure(nil, 0, 0, err)
	f.include(one)
	return "a run failed: " + one.Line()
}

// include takes in a failure.
func (f failed) include(one search.Failure) {
	one.Command = f.repeat
	_ = f.all.Note(one, "", outfile.Rules{}) // without a directory nothing is written
}
