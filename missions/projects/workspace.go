package projects

import (
	"strconv"
	"strings"
)

// Generation tells one object store from another: what is in one need not be in
// the next. It is the project's, since nothing prunes yet.
func (p *Project) Generation() uint64 {
	digits, _, _ := strings.Cut(p.ID, "-")
	n, _ := strconv.ParseUint(digits, 16, 64)
	return n
}
