package flags

import (
	"slices"
	"testing"
)

// TestStringsToTheByte: a path may begin or end with a space or a line's end, or hold a comma.
func TestStringsToTheByte(t *testing.T) {
	t.Parallel()
	want := []string{"f ", " g", "h\n", "a,b"}
	var got List
	var words []string
	for _, path := range want {
		words = append(words, "--path="+path)
	}
	if err := Apply([]Flag{Strings("path", "a `PATH`", &got)}, words); err != nil || !slices.Equal(got.Value(), want) {
		t.Errorf("%q %v", got.Value(), err)
	}
}
