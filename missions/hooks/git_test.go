package hooks

import (
	"strings"
	"testing"
)

// TestHookText puts a line into hooks of all kinds, and takes it out to the byte.
func TestHookText(t *testing.T) {
	t.Parallel()
	line := hookLine("/opt/my tools/umbra", "post-commit")
	for _, hook := range []string{
		"#!/bin/sh\n", "#!/bin/sh\nexit 3\n", "#!/bin/sh -e\nno end", "#!/usr/bin/env bash\n\necho\n", "#! /bin/zsh\n",
		"#!/usr/bin/env -S bash -u\n:\n", "echo no first line\n", "echo", "", "#!/bin/sh\n# Umbra made this file.\n",
	} {
		with, err := withHook([]byte(hook), line)
		if err != nil || strings.Count(string(with), line) != 1 {
			t.Errorf("%q: %q %v", hook, with, err)
			continue
		}
		if first, _, _ := strings.Cut(hook, "\n"); strings.HasPrefix(first, "#!") && !strings.HasPrefix(string(with), first+"\n"+hookNote+line) {
			t.Errorf("%q becomes %q: the line is not the first that runs", hook, with)
		}
		if again, err := withHook(with, line); err != nil || string(again) != string(with) {
			t.Errorf("%q twice: %q %v", hook, again, err)
		}
		other, err := withHook(with, hookLine("umbra", "post-commit"))
		if err != nil || strings.Contains(string(other), "my tools") {
			t.Errorf("%q for another umbra: %q %v", hook, other, err)
		}
		for _, installed := range [][]byte{with, other} {
			if back, made := withoutHook(installed); string(back) != hook || made {
				t.Errorf("%q comes back as %q (%v)", hook, back, made)
			}
		}
	}
	for hook, why := range map[string]string{
		"#!/usr/bin/python3\nprint()\n": "one for /usr/bin/python3", "#!/usr/bin/env -S node\n": "no shell script", "#!/bin/sh": "does not end",
		"#!/bin/sh\r\n:\r\n": "no shell script", "\x7fELF\x00": "a program", "#!\n": "no shell script",
	} {
		if with, err := withHook([]byte(hook), line); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %q %v, want %q", hook, with, err, why)
		}
	}
}

// TestHookLineTakenOut takes out the note alone where its user has taken Umbra's
// line out: the next line is theirs.
func TestHookLineTakenOut(t *testing.T) {
	t.Parallel()
	line := hookLine("umbra", "post-commit")
	const theirs = "#!/bin/sh\nmake check\n"
	with, err := withHook([]byte(theirs), line)
	if err != nil {
		t.Fatal(err)
	}
	note := []byte(strings.Replace(string(with), line, "", 1))
	if left, gone := withoutHook(note); gone || string(left) != theirs {
		t.Errorf("%q leaves %q (%v)", note, left, gone)
	}
	if again, err := withHook(note, line); err != nil || string(again) != string(with) {
		t.Errorf("%q again: %q %v", note, again, err)
	}
	if left, gone := withoutHook([]byte(hookShebang + hookMadeNote + hookNote)); !gone {
		t.Errorf("of a hook that Umbra made it leaves %q", left)
	}
}

// TestMadeHook tells a hook that Umbra made from one that its user goes on with.
func TestMadeHook(t *testing.T) {
	t.Parallel()
	line := hookLine("umbra", "post-merge")
	made, err := withHook(nil, line)
	if err != nil {
		t.Fatal(err)
	}
	if left, gone := withoutHook(made); !gone || left != nil {
		t.Errorf("%q leaves %q", made, left)
	}
	if again, err := withHook(made, line); err != nil || string(again) != string(made) {
		t.Errorf("twice: %q %v", again, err)
	}
	if left, gone := withoutHook([]byte(string(made) + "echo mine\n")); gone || string(left) != "#!/bin/sh\necho mine\n" {
		t.Errorf("with a line of the user's: %q %v", left, gone)
	}
}
