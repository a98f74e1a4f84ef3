package model

import (
	"math"
	"strconv"

	"redlocksim/internal/rediscmd"
)

const (
	errNotInteger = rediscmd.ServerError("ERR value is not an integer or out of range")
	errOverflow   = rediscmd.ServerError("ERR increment or decrement would overflow")
	errNotFloat   = rediscmd.ServerError("ERR value is not a valid float")
)

// integer parses a number as Redis does: only in the form in which Redis writes it.
func integer(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, errNotInteger
	}
	return n, nil
}

// increased is text as a number, increased.
func increased(text string, by int64) (int64, error) {
	n, err := integer(text)
	switch {
	case err != nil:
		return 0, err
	case by > 0 && n > math.MaxInt64-by, by < 0 && n < math.MinInt64-by:
		return 0, errOverflow
	}
	return n + by, nil
}

func isInteger(text string) error {
	_, err := integer(text)
	return err
}

func isScore(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(f, 0):
		return rediscmd.ServerError("ERR the model does not know infinite scores")
	case err != nil || math.IsNaN(f):
		return errNotFloat
	}
	return nil
}

// flag is yes or no as Redis answers it.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
