package client

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Sandboxed reports whether this process was put into namespaces of its own
// below somebody who is not in them: an agent's tool in a sandbox, say. A
// daemon started here would see too little, and serve everybody. A container
// as a whole is no sandbox in this sense: all its processes agree.
func Sandboxed() bool {
	mount, user := namespace("self", "mnt"), namespace("self", "user")
	if mount == "" || user == "" {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		p := strconv.Itoa(pid)
		if m, u := namespace(p, "mnt"), namespace(p, "user"); m != "" && m != mount || u != "" && u != user {
			return true
		}
	}
	// With process ids of its own the sandbox hides who is outside; its first
	// process is then the sandbox program (bubblewrap, as Claude Code and
	// Flatpak use it).
	first, _ := os.ReadFile("/proc/1/comm")
	return strings.TrimSpace(string(first)) == "bwrap"
}

func namespace(process, kind string) string {
	name, _ := os.Readlink("/proc/" + process + "/ns/" + kind)
	return name
}

// parentOf reads field 4 of /proc/<pid>/stat (proc(5)); 0 if it can't be told.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
