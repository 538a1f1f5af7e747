// Package units has the texts of the units by which a system starts Umbra's daemon at login.
// It writes no file and asks no manager.
package units

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Mark is in every unit that Umbra has written, so that no other one is ever replaced or
// removed.
const Mark = "Written by umbra daemon install; umbra daemon uninstall removes it."

// The names of the units.
const (
	SystemdName = "umbra.service"
	LaunchdName = "com.github.umbra-vcs.umbra"
)

// Systemd is a user unit (systemd.service(5)). It has no sandboxing: a daemon
// that sees other files than its clients do is of no use to them.
func Systemd(command []string, path string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = systemdWord(strings.ReplaceAll(word, "$", "$$"))
	}
	return "# " + Mark + `
[Unit]
Description=Umbra, which keeps every state of AI agents' work
Documentation=https://github.com/umbra-vcs/umbra

[Service]
Type=exec
ExecStart=` + strings.Join(words, " ") + `
Environment=` + systemdWord("PATH="+path) + `
Restart=on-failure
RestartSec=5
KillMode=mixed

[Install]
WantedBy=default.target
`
}

// systemdWord quotes a word (systemd.syntax(7)); % begins a specifier
// (systemd.unit(5)).
func systemdWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}

// Launchd is a user agent (launchd.plist(5)).
func Launchd(command []string, path string) string {
	var words strings.Builder
	for _, word := range command {
		fmt.Fprintf(&words, "\t\t<string>%s</string>\n", escapedXML(word))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ` + Mark + ` -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + LaunchdName + `</string>
	<key>ProgramArguments</key>
	<array>
` + words.String() + `	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>PATH</key>
		<string>` + escapedXML(path) + `</string>
	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
</dict>
</plist>
`
}

func escapedXML(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}
