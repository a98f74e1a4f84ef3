// Package page is what the pages of all reports share: their beginning, their style and their script. A page opens from a
// disk. By itself it needs nothing else; those of a directory may share one style sheet and one script.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"

	"redlocksim/internal/mark"
)

var (
	//go:embed head.html
	head string
	//go:embed style.css
	style string
	// Script is the program of pages with a timeline.
	//
	//go:embed script.js
	script string

	// Picture is the style of what is drawn of a run, in pictures for documents, too. The colours of clients are those of
	// Okabe and Ito, "Color Universal Design", 2008, darker or lighter where the ground asks for it; each has a pattern of
	// its own as well.
	//
	//go:embed picture.css
	Picture string
	// tables of where a lock is safe have colours that are told apart by those who see no red or no green as well, and what is
	// broken has a cross besides. The ground of fields stays light.
	//
	//go:embed map.css
	tables string
)

// Names of the files that the pages of a directory share.
const (
	styleFile  = "style.css"
	scriptFile = "script.js"
)

// Shared are the files that the pages of a directory share, by name.
func Shared() map[string][]byte {
	return map[string][]byte{styleFile: []byte(mark.CSS + "\n" + style + Picture + tables), scriptFile: []byte(mark.Go + "\n" + script)}
}

// Template parses the text of a page, which begins with {{template "head" .Head}} and may end with {{template "script" .Head}}.
func Template(text string, functions template.FuncMap) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(functions).Parse(head)).Parse(text))
}

// Head is the head of a page.
type Head struct {
	Title string
	// IsShared says that the page is in a directory with the files Shared.
	IsShared bool
}

// Style is the style sheet of a page by itself, and Script its program.
func (Head) Style() template.CSS { return template.CSS(style + Picture + tables) }
func (Head) Script() template.JS { return template.JS(script) }

// Policy is the content security policy of the page. That it reads files is for pages that are opened from a disk, where
// browsers do not agree what 'self' is.
func (h Head) Policy() string {
	if h.IsShared {
		return policy("'self' file:", "'self' file:")
	}
	return Policy([]string{script}, []string{style + Picture + tables})
}

// Policy is the content security policy (https://www.w3.org/TR/CSP3/) for a page with these scripts and style sheets, each as
// it stands between its tags, byte for byte: only they take effect, known by their hashes. Whatever else gets into the page is
// only text: no script or handler in it runs, and nothing is loaded. The policy belongs into a meta element in the page's
// head, before the first of them.
func Policy(scripts, styles []string) string { return policy(hashes(scripts), hashes(styles)) }

func policy(scripts, styles string) string {
	return "default-src 'none'; script-src " + scripts + "; style-src " + styles + "; img-src data:; base-uri 'none'; form-action 'none'"
}

func hashes(texts []string) string {
	var all []string
	for _, t := range texts {
		sum := sha256.Sum256([]byte(t))
		all = append(all, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(all, " ")
}
