CREATE TABLE `brandings` (
	`project_id` text PRIMARY KEY NOT NULL,
	`app_name` text,
	`lang` text,
	`accent` text,
	`accent_dark` text,
	`style_hash` text,
	`privacy_url` text,
	`support_url` text,
	`texts` text,
	`logo_hash` text,
	`logo_type` text,
	`logo` text,
	`domain` text,
	`domain_challenge` text,
	`domain_proved_at` integer,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `brandings_style` ON `brandings` (`style_hash`);--> statement-breakpoint
CREATE INDEX `brandings_domain` ON `brandings` (`domain`);--> statement-breakpoint
ALTER TABLE `authorizations` ADD `user_display` text;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `lang` text;