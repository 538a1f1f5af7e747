package lab

import (
	"os"
	"strings"
)

// Nobody has this process's environment say nothing of who runs it: HOME is an empty
// directory, Git's variables are gone, and the system's configuration of Git has no say.
// A test gives its own user to what it starts; so tests can run beside each other. The
// function that is returned removes the directory.
func Nobody() (func(), error) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GIT_") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	if err := os.Setenv("GIT_CONFIG_NOSYSTEM", "1"); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "umbra-nobody-")
	if err != nil {
		return nil, err
	}
	return func() { os.RemoveAll(home) }, os.Setenv("HOME", home)
}
