package lab

import (
	"fmt"
	"os"
	"strings"
)

// WriteSection puts text into a page, in the place of what stands between the
// two lines that mark what a program wrote there before.
func WriteSection(page, program, text string) error {
	begin, end := sectionMarks(program)
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, begun := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return fmt.Errorf("%s has no place for this: the lines %q and %q", page, begin, end)
	}
	if err := os.WriteFile(page, []byte(before+begin+text+end+after), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func sectionMarks(program string) (begin, end string) {
	return "<!-- written by " + program + " -->\n", "<!-- end of what " + program + " writes -->\n"
}
