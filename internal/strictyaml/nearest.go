package strictyaml

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// longestGuess bounds the work for a suggestion: nobody mistypes a longer word.
const longestGuess = 64

// Nearest returns the word of valid that word was probably meant to be: one that differs in no more than a third of its
// letters, or in two neighbours swapped, or that one of the two begins with. Case and the choice between "-", "_" and a space
// do not count. Of equally near ones the first is taken. It never returns word itself, and nothing if none is near.
func Nearest(word string, valid []string) string {
	length := utf8.RuneCountInString(word)
	if word == "" || length > longestGuess {
		return ""
	}
	folded := fold(word)
	limit := max(length, 3) / 3
	best, bestDistance := "", limit+1
	for _, candidate := range valid {
		if candidate == word || max(utf8.RuneCountInString(candidate)-length, length-utf8.RuneCountInString(candidate)) > limit {
			continue
		}
		if distance := editDistance(folded, fold(candidate)); distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	if best != "" {
		return best
	}
	// Shorter than three letters, a common beginning is a coincidence.
	for _, candidate := range valid {
		short, long := folded, fold(candidate)
		if len(short) > len(long) {
			short, long = long, short
		}
		if candidate != word && utf8.RuneCountInString(short) >= 3 && strings.HasPrefix(long, short) {
			return candidate
		}
	}
	return ""
}

// DidYouMean is how an error asks for the word that was probably meant; empty if there is none.
func DidYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

var separators = strings.NewReplacer("_", "-", " ", "-")

func fold(word string) string { return separators.Replace(strings.ToLower(word)) }

// editDistance counts two swapped neighbours as one edit, where Levenshtein's measure counts two: it is the commonest slip of
// the fingers.
func editDistance(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if i+1 < len(a) && i+1 < len(b) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
				return 1
			}
			break
		}
	}
	return levenshtein.ComputeDistance(a, b)
}
