CREATE TABLE `stored_files` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text,
	`caller` text,
	`name` text NOT NULL,
	`content_type` text NOT NULL,
	`size` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `stored_files_expiry` ON `stored_files` (`expires_at`);--> statement-breakpoint
CREATE INDEX `stored_files_of_project` ON `stored_files` (`project_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `stored_files_of_user` ON `stored_files` (`project_id`,`user_id`);