package strictyaml_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/internal/strictyaml"
)

func TestDurationsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64().Draw(t, "ns"))
		var got struct {
			D time.Duration `yaml:"d"`
		}
		if err := strictyaml.Decode("f", fmt.Appendf(nil, "d: %v", want), &got); err != nil || got.D != want {
			t.Errorf("got %v, %v, want %v", got.D, err, want)
		}
	})
}

// A whole number is accepted exactly if the field can hold it.
func TestIntegersFitOrFail(t *testing.T) {
	type integers struct {
		I8  int8   `yaml:"i8"`
		U8  uint8  `yaml:"u8"`
		I16 int16  `yaml:"i16"`
		U32 uint32 `yaml:"u32"`
		I64 int64  `yaml:"i64"`
		U64 uint64 `yaml:"u64"`
	}
	bounds := map[string][2]string{
		"i8": {"-128", "127"}, "u8": {"0", "255"}, "i16": {"-32768", "32767"}, "u32": {"0", "4294967295"},
		"i64": {"-9223372036854775808", "9223372036854775807"}, "u64": {"0", "18446744073709551615"},
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"i8", "u8", "i16", "u32", "i64", "u64"}).Draw(t, "key")
		least, _ := new(big.Int).SetString(bounds[key][0], 10)
		most, _ := new(big.Int).SetString(bounds[key][1], 10)
		number := new(big.Int).Add(rapid.SampledFrom([]*big.Int{least, most}).Draw(t, "bound"),
			big.NewInt(rapid.Int64Range(-300, 300).Draw(t, "offset")))
		fits := number.Cmp(least) >= 0 && number.Cmp(most) <= 0

		var got integers
		err := strictyaml.Decode("f", fmt.Appendf(nil, "%s: %v", key, number), &got)
		if (err == nil) != fits {
			t.Fatalf("%s: %v: %v", key, number, err)
		}
		values := map[string]any{"i8": got.I8, "u8": got.U8, "i16": got.I16, "u32": got.U32, "i64": got.I64, "u64": got.U64}
		if text := fmt.Sprint(values[key]); fits && text != number.String() {
			t.Errorf("%s: got %s, want %v", key, text, number)
		}
	})
}
