package beneath

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MountPoints lists where something is mounted, as this process sees it, in the order of
// mounting: mountinfo of proc(5). It fails where the system does not tell.
func MountPoints() ([]string, error) {
	list, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	var points []string
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) >= 5 {
			points = append(points, unescapeMount(fields[4]))
		}
	}
	return points, lines.Err()
}

// MountsIn lists what is mounted at a path or below it, files too; nothing where the
// system does not tell.
func MountsIn(path string) []string {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil
	}
	points, _ := MountPoints()
	resolved, within := strings.TrimSuffix(filepath.Join(parent, filepath.Base(path)), "/"), []string(nil)
	path = strings.TrimSuffix(path, "/") // all is below the root
	for _, point := range points {
		if rest, found := strings.CutPrefix(point, resolved); found && (rest == "" || rest[0] == '/') {
			within = append(within, path+rest)
		}
	}
	return within
}

// unescapeMount undoes the \ooo by which mountinfo writes blanks.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
