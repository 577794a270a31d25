ALTER TABLE `tools` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `tools` ADD `binding_mac` text;--> statement-breakpoint
ALTER TABLE `toolsets` ADD `mac` text;