// Package csp writes the content security policy of a self-contained page
// (https://www.w3.org/TR/CSP3/): only the scripts and style sheets that the page was written with take effect, known by
// their hashes. Whatever else gets into the page is only text: no script or handler in it runs, and nothing is loaded.
package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Policy is the policy for a page with these scripts and style sheets, each as it stands between its tags, byte for byte. It
// belongs into a meta element in the page's head, before the first of them.
func Policy(scripts, styles []string) string {
	return "default-src 'none'; script-src " + hashes(scripts) + "; style-src " + hashes(styles) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

func hashes(texts []string) string {
	if len(texts) == 0 {
		return "'none'"
	}
	var all []string
	for _, t := range texts {
		sum := sha256.Sum256([]byte(t))
		all = append(all, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(all, " ")
}
