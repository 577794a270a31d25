CREATE TABLE `connection_tools` (
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`tool` text NOT NULL,
	`last_used_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `user_id`, `connection_id`, `tool`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `connection_tools_last_use` ON `connection_tools` (`last_used_at`);--> statement-breakpoint
CREATE TABLE `portal_tickets` (
	`hash` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`user_display` text,
	`may` text DEFAULT '[]' NOT NULL,
	`return_url` text,
	`lang` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `portal_tickets_expiry` ON `portal_tickets` (`expires_at`);--> statement-breakpoint
CREATE INDEX `authorizations_of_user` ON `authorizations` (`user_id`,`project_id`,`id`);