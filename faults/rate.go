package faults

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"redlocksim/internal/strictyaml"
)

// Rate is an exact ratio, written as a percentage: "10%", "-0.05%". The zero Rate is 0 %.
type Rate struct{ ratio decimal.Decimal }

// RateOf is a rate given as a part of one.
func RateOf(ratio decimal.Decimal) Rate { return Rate{ratio} }

// PPM is a rate in parts per million.
func PPM(n int64) Rate { return Rate{decimal.New(n, -6)} }

// ppbRate is a rate in parts per billion.
func ppbRate(n int64) Rate { return Rate{decimal.New(n, -9)} }

// Ratio is the rate as a part of one.
func (r Rate) Ratio() decimal.Decimal { return r.ratio }

// PPB is the rate in parts per billion, rounded toward zero.
func (r Rate) PPB() int64 { return r.ratio.Shift(9).IntPart() }

func (r Rate) String() string { return r.ratio.Shift(2).String() + "%" }

func (r Rate) atLeast(o Rate) Rate { return Rate{decimal.Max(r.ratio, o.ratio)} }

func (r Rate) abs() Rate { return Rate{r.ratio.Abs()} }

// longestNumber is how many characters a decimal number has at the most.
const longestNumber = 20

// ParseDecimal reads a decimal number of at most 20 characters; false if it is none. The exponent notation, which could name
// numbers of any length, is none.
func ParseDecimal(text string) (decimal.Decimal, bool) {
	d, err := decimal.NewFromString(strings.TrimSpace(text))
	return d, err == nil && len(text) <= longestNumber && !strings.ContainsAny(text, "eE")
}

// UnmarshalScalar reads a percentage.
func (r *Rate) UnmarshalScalar(text string) error {
	number, isPercentage := strings.CutSuffix(text, "%")
	d, ok := ParseDecimal(number)
	if !ok || !isPercentage {
		return &strictyaml.Invalid{Msg: `not a percentage, as "1%" or "-0.5%"`, Word: text}
	}
	r.ratio = d.Shift(-2)
	return nil
}

// MarshalScalar is the counterpart of UnmarshalScalar. A rate with more digits than a file can have is an error.
func (r Rate) MarshalScalar() (string, error) {
	text := r.String()
	if len(text) > longestNumber+len("%") {
		return "", fmt.Errorf("the rate %s has too many digits", text)
	}
	return text, nil
}

// ScalarPattern is what UnmarshalScalar reads, for strictyaml.Schemas.
func (Rate) ScalarPattern() string { return `^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+) *%$` }
