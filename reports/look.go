package reports

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Look is how a report for people looks. The zero value is for a file or a pipe.
type Look struct {
	// Width is how wide a terminal is, in characters; 0 for no limit.
	Width int
	// Color has words that matter coloured.
	Color bool
}

// Good colours what is as it should be.
func (l Look) Good(words string) string { return l.paint(text.FgGreen, words) }

// Bad colours what is not.
func (l Look) Bad(words string) string { return l.paint(text.FgRed, words) }

// Doubtful colours what is neither.
func (l Look) Doubtful(words string) string { return l.paint(text.FgYellow, words) }

func (l Look) paint(c text.Color, words string) string {
	if !l.Color {
		return words
	}
	return c.EscapeSeq() + words + text.EscapeReset
}

// NewTable is a table without lines, whose rows are cut off at the width. What is in its last column is not padded.
func (l Look) NewTable() table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	if l.Width > 0 {
		t.SetAllowedRowLength(l.Width)
	}
	return t
}

// fit renders a table without as many of the columns, given by their numbers, as it must do without to fit the width. What
// is then still too wide is narrowed, and cut off only if that is not enough.
func (l Look) fit(t table.Writer, narrowed []table.ColumnConfig, columns ...int) string {
	var configs []table.ColumnConfig
	isTooWide := func() bool { return l.Width > 0 && text.LongestLineLen(t.Render()) > l.Width }
	t.SetAllowedRowLength(0)
	for _, n := range columns {
		if !isTooWide() {
			break
		}
		configs = append(configs, table.ColumnConfig{Number: n, Hidden: true})
		t.SetColumnConfigs(configs)
	}
	if isTooWide() {
		t.SetColumnConfigs(append(configs, narrowed...))
	}
	if isTooWide() { // by its words: the limit counts spaces at the end, too
		t.SetAllowedRowLength(l.Width)
	}
	return t.Render()
}
