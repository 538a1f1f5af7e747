;; `umbra hooks uninstall emacs' removes this file. -*- no-byte-compile: t -*-
(add-to-list 'load-path (directory-file-name (file-name-directory (or load-file-name buffer-file-name))))
(autoload 'umbra-mode "umbra" "Tell Umbra what is saved." t)
(autoload 'umbra-snapshot "umbra" "Take a snapshot." t)
(autoload 'umbra-status "umbra" "Show Umbra's status." t)
(autoload 'umbra-log "umbra" "Show the mission's log." t)
(autoload 'umbra-timeline "umbra" "Open the timeline." t)
(autoload 'umbra-open "umbra" "Open this file as it was." t)
(autoload 'umbra-diff "umbra" "Compare this file with what it was." t)
(autoload 'umbra-blame "umbra" "Say who wrote this line." t)
(autoload 'umbra-show "umbra" "Show the moment that wrote this line." t)
;; After the user's own file, where umbra-mode may be set to nil.
(defvar umbra-mode t)
(if after-init-time
    (umbra-mode 1)
  (add-hook 'after-init-hook (lambda () (when umbra-mode (umbra-mode 1)))))
