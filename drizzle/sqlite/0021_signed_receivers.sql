ALTER TABLE `connect_sessions` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `connect_sessions` ADD `opener_mac` text;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `mac` text;