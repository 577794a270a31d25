CREATE TABLE `connect_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`authorization_id` text NOT NULL,
	`origin` text NOT NULL,
	`opener_hash` text,
	`opened_in` text,
	`restarts` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `connect_sessions_token_hash_unique` ON `connect_sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `connect_sessions_expiry` ON `connect_sessions` (`expires_at`);--> statement-breakpoint
ALTER TABLE `authorizations` ADD `connect_session_id` text;