package projects

import (
	"fmt"
	"testing"
)

// TestIsHalf: no more is asked than says whether half of them are so.
func TestIsHalf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		so    string // of each, y or n
		want  bool
		asked int
	}{
		{"", true, 0}, {"y", true, 1}, {"n", false, 1}, {"yn", true, 1}, {"ny", true, 2}, {"nn", false, 2},
		{"nnyyy", true, 5}, {"nnnyy", false, 3}, {"yyynnn", true, 3}, {"nnnyyy", true, 6}, {"nnnnyy", false, 4},
	} {
		t.Run(fmt.Sprintf("of %q", c.so), func(t *testing.T) {
			asked := 0
			got := isHalf(len(c.so), func(i int) bool { asked++; return c.so[i] == 'y' })
			if got != c.want || asked != c.asked {
				t.Errorf("%t after %d, want %t after %d", got, asked, c.want, c.asked)
			}
		})
	}
}
