package strictyaml

import "fmt"

// Choice is a word of an enumeration and what it stands for.
type Choice[T any] struct {
	Word  string
	Value T
}

// Word reads one word of an enumeration; what names the enumeration in the error.
func Word[T any](text, what string, into *T, choices []Choice[T]) error {
	var valid []string
	for _, c := range choices {
		if c.Word == text {
			*into = c.Value
			return nil
		}
		valid = append(valid, c.Word)
	}
	return &Invalid{Msg: "no such " + what, Word: text, Valid: valid}
}

// WordOf is the word for a value of an enumeration; what names the enumeration in the error.
func WordOf[T comparable](value T, what string, choices []Choice[T]) (string, error) {
	for _, c := range choices {
		if c.Value == value {
			return c.Word, nil
		}
	}
	return "", fmt.Errorf("there is no word for %s %v", what, value)
}
