// Package lockkeys tells which keys of a Redis node stand for a lock, by the patterns that somebody's lock declares.
package lockkeys

import (
	"regexp"
	"strings"
)

// Resource is what a pattern has in the place of the name of what is locked.
const Resource = "{resource}"

// Keys are patterns for the resources of a run.
type Keys []pattern

type pattern struct {
	*regexp.Regexp
	resource string
}

// Of are patterns, in which * stands for anything, for some resources.
func Of(patterns, resources []string) (all Keys) {
	for _, declared := range patterns {
		text := strings.ReplaceAll(regexp.QuoteMeta(declared), `\*`, ".*")
		for _, name := range resources {
			exact := strings.ReplaceAll(text, regexp.QuoteMeta(Resource), regexp.QuoteMeta(name))
			all = append(all, pattern{regexp.MustCompile("^(?s:" + exact + ")$"), name})
		}
	}
	return all
}

// Of is the resource for which a key stands, as the lock or as a part of it; false if it stands for none.
func (k Keys) Of(key string) (resource string, is bool) {
	for _, p := range k {
		if p.MatchString(key) {
			return p.resource, true
		}
	}
	return "", false
}
